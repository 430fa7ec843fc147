package awstest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// PriceEntry is one of the Price List.
type PriceEntry struct {
	Service, Family string
	Attributes      map[string]string
	Unit            string
	USD             string // as AWS writes it: 0.1710000000
	Reserved        string // unit of a free dimension beside it, as instances that may be reserved have; "" for none
}

// Prices are the Price List.
type Prices struct {
	requests  *requests
	all       []PriceEntry
	published string            // when they were
	page      int               // how many entries one answer has
	tokens    map[string]string // the questions that the tokens of further pages are of
}

// Add puts entries into the Price List.
func (s *Prices) Add(published string, all ...PriceEntry) {
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	s.published = published
	s.all = append(s.all, all...)
}

// pricingTarget is how a request to the Price List says what it asks.
const pricingTarget = "AWSPriceListService."

// pageOfPrices is how many entries one answer has where nothing else is said; AWS gives a hundred.
const pageOfPrices = 3

// answer answers GetProducts of the Price List, in the form aws_v1: each entry is JSON in a text.
func (s *Prices) answer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ServiceCode, FormatVersion, NextToken string
		Filters                               []struct{ Type, Field, Value string }
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), pricingTarget)
	fault := s.requests.nextFault(name)
	if failJSON(w, fault) {
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || name != "GetProducts" || in.FormatVersion != "aws_v1" {
		refuseJSON(w, "InvalidParameterException", "the stand-in does not know this question")
		return
	}
	s.requests.asked[name]++
	if fault == Lost {
		panic(http.ErrAbortHandler) // closes the connection
	}
	question := fmt.Sprint(in.ServiceCode, in.Filters)
	from := 0
	if in.NextToken != "" {
		if s.tokens[in.NextToken] != question {
			refuseJSON(w, "InvalidNextTokenException", "The pagination token is invalid.")
			return
		}
		_, _ = fmt.Sscanf(in.NextToken, "from-%d-", &from) // it is the stand-in's own
	}
	var found []string
	for i, e := range s.all {
		fits := e.Service == in.ServiceCode
		for _, f := range in.Filters {
			value := e.Attributes[f.Field]
			if f.Field == "productFamily" {
				value = e.Family
			}
			fits = fits && f.Type == "TERM_MATCH" && strings.EqualFold(value, f.Value)
		}
		if fits {
			found = append(found, e.json(i, s.published))
		}
	}
	end := min(from+s.page, len(found))
	answer := map[string]any{"FormatVersion": "aws_v1", "PriceList": found[min(from, len(found)):end]}
	if end < len(found) {
		token := fmt.Sprintf("from-%d-%d", end, len(s.tokens))
		s.tokens[token], answer["NextToken"] = question, token
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (e PriceEntry) json(n int, published string) string {
	sku := fmt.Sprintf("SKU%013d", n)
	term := sku + ".JRTCKXETXF"
	dimensions := map[string]any{}
	add := func(rate, unit, usd string) {
		dimensions[term+"."+rate] = map[string]any{
			"rateCode": term + "." + rate, "unit": unit, "beginRange": "0", "endRange": "Inf", "description": "…", "appliesTo": []string{}, "pricePerUnit": map[string]string{"USD": usd},
		}
	}
	add("6YS6EN2CT7", e.Unit, e.USD)
	if e.Reserved != "" {
		add("2TG2D8R56U", e.Reserved, "0.0000000000")
	}
	text, _ := json.Marshal(map[string]any{ // it is made of texts
		"product":     map[string]any{"productFamily": e.Family, "attributes": e.Attributes, "sku": sku},
		"serviceCode": e.Service, "version": "20261101000000", "publicationDate": published,
		"terms": map[string]any{"OnDemand": map[string]any{term: map[string]any{
			"offerTermCode": "JRTCKXETXF", "sku": sku, "effectiveDate": published, "termAttributes": map[string]string{}, "priceDimensions": dimensions,
		}}},
	})
	return string(text)
}
