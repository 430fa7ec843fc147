package findings

import (
	"plimsoll/advise"
	"plimsoll/watch/storage"
)

// costs are what instances, volumes and memory cost a month, and what a change of one of them costs more: known where the price of what stays is not.
type costs struct{ Input }

func (c costs) priced(class string, v *storage.Volume) (p advise.Price) {
	if c.Aurora != nil && class != "" {
		return c.Prices.AuroraClass(class, c.Aurora.Configuration == IOOptimized) // the storage costs the same with any class
	}
	if class != "" {
		p = p.Plus(c.Prices.Class(class))
	}
	p = c.zones(p.Plus(c.volume(v)))
	if class == "" && c.RDS && p == (advise.Price{}) {
		return advise.Price{Unknown: unclassed}
	}
	if class == "" && c.Aurora == nil && !c.RDS && c.Memory != nil {
		if memory := c.memory(c.Memory.Bytes); memory.Known() || p == (advise.Price{}) {
			p = p.Plus(memory)
		}
	}
	return p
}

// volume is what a volume costs; nothing of a local one.
func (c costs) volume(v *storage.Volume) advise.Price {
	if v == nil || v.Type == "local" {
		return advise.Price{}
	}
	return c.Prices.Volume(v.Type, v.GiB, extraIOPS(*v), extraMiBs(*v), v.Managed)
}

// memory is what memory of one's own machine costs.
func (c costs) memory(bytes int64) advise.Price {
	if c.Prices.Catalogue == nil {
		return advise.Price{Unknown: "no prices"}
	}
	return c.Prices.Memory(float64(bytes) / (1 << 30))
}

// own is what the memory of one's own machine costs for a pool of a size, beside the volume.
func (c costs) own(bytes int64) advise.Price {
	p := c.memory(bytes)
	if c.Volume != nil && p.Known() {
		p = p.Plus(c.zones(c.volume(c.Volume)))
	}
	return p
}

// zones is a price with that of a standby.
func (c costs) zones(p advise.Price) advise.Price {
	if c.MultiAZ {
		return p.Plus(p)
	}
	return p
}

// ofVolume is what another volume costs more.
func (c costs) ofVolume(v storage.Volume) advise.Price {
	if v == *c.Volume {
		return c.free()
	}
	return c.zones(c.volume(&v)).Minus(c.zones(c.volume(c.Volume)))
}

// ofClass is what another class costs more.
func (c costs) ofClass(class string) advise.Price {
	if c.Aurora != nil {
		return c.priced(class, nil).Minus(c.priced(c.Class, nil))
	}
	return c.zones(c.Prices.Class(class)).Minus(c.zones(c.Prices.Class(c.Class)))
}

// ofMemory is what another size of the buffer pool costs more on one's own machine.
func (c costs) ofMemory(bytes int64) advise.Price {
	return c.memory(bytes).Minus(c.memory(c.Memory.Bytes))
}
