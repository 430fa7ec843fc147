package awstest

import (
	"encoding/json"
	"net/http"
	"sync"
)

// requests are those that a stand-in gets: how often each operation was carried out, and what goes wrong with the next ones. Its lock
// guards all that the stand-in holds.
type requests struct {
	mu     sync.Mutex
	faults map[string][]Fault
	asked  map[string]int
}

func newRequests() requests { return requests{faults: map[string][]Fault{}, asked: map[string]int{}} }

// Fail makes the next requests of an operation go wrong, one after another.
func (r *requests) Fail(operation string, faults ...Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults[operation] = append(r.faults[operation], faults...)
}

// Heal takes back what was to go wrong with further requests of an operation.
func (r *requests) Heal(operation string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.faults, operation)
}

// Asked is how often an operation was asked for and did something, whatever became of its answer.
func (r *requests) Asked(operation string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[operation]
}

// nextFault is what goes wrong with this request of an operation; "" for nothing. It goes wrong once.
func (r *requests) nextFault(operation string) Fault {
	queue := r.faults[operation]
	if len(queue) == 0 {
		return ""
	}
	r.faults[operation] = queue[1:]
	return queue[0]
}

// Fault is something that goes wrong with a request.
type Fault string

// The faults.
const (
	Throttled Fault = "throttled" // refused: too many requests; nothing was done
	Broken    Fault = "broken"    // status 500; nothing was done
	Lost      Fault = "lost"      // done, and the connection breaks before the answer
	Ignored   Fault = "ignored"   // accepted, and nothing is done
	Denied    Fault = "denied"    // refused: the credentials may not; nothing was done
	Expired   Fault = "expired"   // refused: the credentials have ended; nothing was done
	Unknown   Fault = "unknown"   // refused: nobody has these credentials; nothing was done
)

// failJSON answers a request of the services that speak JSON with what goes wrong before it is carried out; false: it is to be carried out.
func failJSON(w http.ResponseWriter, f Fault) bool {
	switch f {
	case Throttled:
		refuseJSON(w, "ThrottlingException", "Rate exceeded")
	case Denied:
		refuseJSON(w, "AccessDeniedException", "User is not authorized to perform it")
	case Expired:
		refuseJSON(w, "ExpiredTokenException", "The security token included in the request is expired")
	case Unknown:
		refuseJSON(w, "UnrecognizedClientException", "The security token included in the request is invalid.")
	case Broken:
		refuseJSONWith(w, http.StatusInternalServerError, "InternalErrorException", "An error on the server occurred during the processing of your request.")
	default:
		return false
	}
	return true
}

// refuseJSON answers a request of the services that speak JSON with an error.
func refuseJSON(w http.ResponseWriter, code, text string) {
	refuseJSONWith(w, http.StatusBadRequest, code, text)
}

func refuseJSONWith(w http.ResponseWriter, status int, code, text string) {
	w.Header().Set("X-Amzn-ErrorType", code)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "Message": text})
}
