package price

import "plimsoll/advise"

// AuroraPrices are those of Aurora MySQL, which has classes with prices of their own, and storage that is billed by what is used.
type AuroraPrices struct {
	Classes map[string]ClassPrice `yaml:"classes" doc:"Instances of the Standard configuration, by class."`
	// Optimized are the classes of I/O-Optimized. One that is not named costs OptimizedMore more than in Standard.
	Optimized     map[string]ClassPrice `yaml:"optimized" doc:"Instances of the I/O-Optimized configuration, by class."`
	OptimizedMore float64               `yaml:"optimized_more" doc:"By what share an instance of I/O-Optimized costs more, where its price is not given."`
	Storage       AuroraStorage         `yaml:"storage" doc:"Storage and requests."`
}

// AuroraStorage is what the data of a cluster costs.
type AuroraStorage struct {
	GiB          float64 `yaml:"gib_month" doc:"A GiB a month in Standard."`
	Million      float64 `yaml:"million_requests" doc:"A million read and write requests in Standard."`
	OptimizedGiB float64 `yaml:"optimized_gib_month" doc:"A GiB a month in I/O-Optimized, with all requests."`
	Source       string  `yaml:"source,required" doc:"Name of the source."`
}

// merge puts prices over those below.
func (a *AuroraPrices) merge(over *AuroraPrices) *AuroraPrices {
	switch {
	case over == nil:
		return a
	case a == nil:
		return over
	}
	out := AuroraPrices{Classes: merged(a.Classes, over.Classes), Optimized: merged(a.Optimized, over.Optimized), OptimizedMore: a.OptimizedMore, Storage: a.Storage}
	if over.OptimizedMore > 0 {
		out.OptimizedMore = over.OptimizedMore
	}
	if over.Storage.Source != "" {
		out.Storage = over.Storage
	}
	return &out
}

// AuroraClass is what an instance of an Aurora cluster costs a month.
func (o Of) AuroraClass(name string, optimized bool) advise.Price {
	a := o.aurora()
	p, known := a.Classes[name]
	if optimized {
		own, there := a.Optimized[name]
		p.Hour *= 1 + a.OptimizedMore
		known = known && a.OptimizedMore > 0
		if there {
			p, known = own, true
		}
	}
	if !known {
		return o.lacking(name + " of Aurora")
	}
	return o.price(p.Hour*Hours, p.Apart, p.Source)
}

// AuroraStorage is what so much data of an Aurora cluster costs a month, without requests.
func (o Of) AuroraStorage(gib float64, optimized bool) advise.Price {
	s := o.aurora().Storage
	each := s.GiB
	if optimized {
		each = s.OptimizedGiB
	}
	if each == 0 {
		return o.lacking("Aurora's storage")
	}
	return o.price(each*gib, 0, s.Source)
}

// AuroraRequests is what requests cost a month in Standard, at a rate a second and at the ends of its interval.
func (o Of) AuroraRequests(rate advise.Figure) advise.Price {
	s := o.aurora().Storage
	if s.Million == 0 {
		return o.lacking("Aurora's requests")
	}
	month := func(perSecond float64) float64 { return perSecond * Hours * 3600 / 1e6 * s.Million * (1 - o.Discount) }
	p := o.price(0, 0, s.Source)
	p.Month, p.Low, p.High = month(rate.Mean), month(rate.Low), month(rate.High)
	return p
}

func (o Of) aurora() AuroraPrices {
	if o.Catalogue == nil {
		return AuroraPrices{}
	}
	if a := o.Regions[o.Region].Aurora; a != nil {
		return *a
	}
	return AuroraPrices{}
}
