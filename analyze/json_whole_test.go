package analyze

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Every field of a claim is in the file that keeps it: a page that is written from the file says what the one of the trial said.
func TestAClaimIsKeptWhole(t *testing.T) {
	var f, read JudgedClaim
	for v, i := reflect.ValueOf(&f).Elem(), 0; i < v.NumField(); i++ {
		switch field := v.Field(i); field.Kind() {
		case reflect.String:
			field.SetString(v.Type().Field(i).Name)
		case reflect.Float64:
			field.SetFloat(float64(i + 1))
		case reflect.Bool:
			field.SetBool(true)
		default:
			t.Fatalf("%s: this test has no value of its kind", v.Type().Field(i).Name)
		}
	}
	data, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil || read != f {
		t.Errorf("%+v was read as %+v from %s, %v", f, read, data, err)
	}
}
