package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"
)

// Prices asks the AWS Price List what things cost on demand. It is safe for concurrent use.
type Prices struct{ client *pricing.Client }

// priceRegion is one of the few regions in which the Price List answers, for all regions.
const priceRegion = "us-east-1"

// OpenPrices readies the API. It asks nothing yet.
func OpenPrices(ctx context.Context, o Options) (*Prices, error) {
	o.Region = priceRegion
	c, err := configure(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Prices{pricing.NewFromConfig(c)}, nil
}

// Product is what the Price List has of something, with its price on demand.
type Product struct {
	Family     string
	Attributes map[string]string // region, instance type and the like, by AWS's names
	Unit       string            // Hrs, GB-Mo, IOPS-Mo
	USD        float64           // a unit
}

// listed is an entry of the Price List as it is sent: JSON in a text.
type listed struct {
	Product struct {
		ProductFamily string
		Attributes    map[string]string
		SKU           string
	}
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				Unit, BeginRange string
				PricePerUnit     map[string]string
			}
		}
	}
	PublicationDate time.Time
}

// Products are those of a service whose attributes have these values, and when their prices were published last. One without a price
// in dollars, or with several, is left out: nobody could say which is meant.
func (p *Prices) Products(ctx context.Context, service string, where map[string]string) (all []Product, published time.Time, err error) {
	in := &pricing.GetProductsInput{ServiceCode: &service, FormatVersion: sdk.String("aws_v1")}
	for field, value := range where {
		in.Filters = append(in.Filters, types.Filter{Type: types.FilterTypeTermMatch, Field: sdk.String(field), Value: sdk.String(value)})
	}
	pages := pricing.NewGetProductsPaginator(p.client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, published, explainMetrics("pricing:GetProducts", err)
		}
		for _, text := range page.PriceList {
			var one listed
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				return nil, published, fmt.Errorf("read an entry of the Price List of %s: %w", service, err)
			}
			if one.PublicationDate.After(published) {
				published = one.PublicationDate
			}
			if unit, usd, plain := one.price(); plain {
				all = append(all, Product{one.Product.ProductFamily, one.Product.Attributes, unit, usd})
			}
		}
	}
	return all, published, nil
}

// price is the one that is asked for from the first unit on; free ones are of reservations.
func (l listed) price() (unit string, usd float64, plain bool) {
	for _, term := range l.Terms.OnDemand {
		for _, d := range term.PriceDimensions {
			v, err := strconv.ParseFloat(d.PricePerUnit["USD"], 64)
			if err != nil || v <= 0 || d.BeginRange != "0" && d.BeginRange != "" {
				continue
			}
			if plain && (v != usd || d.Unit != unit) {
				return "", 0, false
			}
			unit, usd, plain = d.Unit, v, true
		}
	}
	return unit, usd, plain
}
