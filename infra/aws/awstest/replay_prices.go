package awstest

import (
	"cmp"
	"encoding/json"
	"strings"

	"plimsoll/infra/aws/record"
)

// prices puts the entries of the Price List into the stand-in, each as an answer to the question to which it was recorded: a recording has stand-ins for
// what was asked for, so nothing else says that an entry fits. A page has as many entries as the longest that was recorded.
func (r *replay) prices(calls []record.Call) error {
	for _, c := range calls {
		if c.Service != "Pricing" || c.Action != "GetProducts" {
			continue
		}
		question, err := record.Parse(c.Request)
		if err != nil {
			return err
		}
		answer, err := record.Parse(c.Body)
		if err != nil {
			continue // it is told when it is replayed
		}
		list := under(answer, "PriceList").Under
		r.server.Prices.page = max(r.server.Prices.page, len(list))
		for _, one := range list {
			entry, err := record.Parse(one.Text)
			if err != nil {
				return err
			}
			r.server.Prices.Add(entry.Of("publicationDate"), priceEntry(entry, question))
		}
	}
	return nil
}

// priceEntry is an entry of the Price List that fits a question.
func priceEntry(entry, question *record.Node) PriceEntry {
	product := under(entry, "product")
	e := PriceEntry{Service: question.Of("ServiceCode"), Family: product.Of("productFamily"), Attributes: map[string]string{}}
	for _, a := range under(product, "attributes").Under {
		e.Attributes[a.Name] = a.Text
	}
	for _, f := range under(question, "Filters").Under {
		if field, value := f.Of("Field"), f.Of("Value"); field == "productFamily" {
			e.Family = value
		} else {
			e.Attributes[field] = value
		}
	}
	entry.All("priceDimensions", func(all *record.Node) {
		for _, d := range all.Under {
			switch usd := d.Of("pricePerUnit", "USD"); {
			case strings.Trim(usd, "0.") == "":
				e.Reserved = cmp.Or(e.Reserved, d.Of("unit"))
			case e.USD == "":
				e.Unit, e.USD = d.Of("unit"), usd
			}
		}
	})
	return e
}

// furtherPage is a recorded question with the stand-in's token of the page where AWS's was recorded, and what it asks without it.
func (r *replay) furtherPage(request string) (asked, question string, err error) {
	var in map[string]any
	if err := json.Unmarshal([]byte(request), &in); err != nil {
		return "", "", err
	}
	_, further := in["NextToken"]
	delete(in, "NextToken")
	without, err := json.Marshal(in)
	if err != nil || !further {
		return string(without), string(without), err
	}
	in["NextToken"] = r.pages[string(without)]
	with, err := json.Marshal(in)
	return string(with), string(without), err
}

// addEntry adds the fields of an entry of the Price List, which is JSON in a text. The keys of its terms are numbers of prices, of which each entry
// has others.
func (f fieldSet) addEntry(action, path string, n *record.Node) {
	if n.Text != "" {
		f[action][path] = true
	}
	for _, u := range n.Under {
		name := u.Name
		if n.Name == "OnDemand" || n.Name == "Reserved" || n.Name == "priceDimensions" {
			name = "*"
		}
		f.addEntry(action, path+"."+name, u)
	}
}
