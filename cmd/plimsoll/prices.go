package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/advise/price"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func newPrices(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "prices", Short: "Update the prices of database classes, volumes and caches"}
	cmd.AddCommand(newPricesUpdate(c))
	console.RefuseUnknown(cmd)
	return cmd
}

type pricesUpdateOptions struct {
	regions  []string
	file     string
	profile  string
	endpoint string
}

func newPricesUpdate(c console.Streams) *cobra.Command {
	var o pricesUpdateOptions
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Read today's prices from AWS into a file that overrides the catalogue",
		Long: `Read the on-demand prices of classes, volumes and read caches in some regions from the AWS Price List, with your own credentials
(permission pricing:GetProducts), and write them to a file with the date. The file's prices override the built-in catalogue; the prices of other
regions in the file stay.

Without --file they are written where plimsoll advise finds them by itself; to use another file, give it to advise with --prices.`,
		Example: "  plimsoll prices update --region us-east-1\n  plimsoll prices update --region eu-central-1 --region eu-west-1 --file prices.yaml --profile billing",
		Args:    console.Exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return pricesUpdate(cmd.Context(), c, o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.regions, "region", []string{"us-east-1"}, "regions to read")
	f.StringVar(&o.file, "file", "", "where to write (default prices.yaml in Plimsoll's own folder)")
	f.StringVar(&o.profile, "profile", "", "profile of the AWS command line (default as it chooses)")
	f.StringVar(&o.endpoint, "endpoint", "", "address to use instead of AWS's own, for a test server")
	return cmd
}

func pricesUpdate(ctx context.Context, c console.Streams, o pricesUpdateOptions) error {
	file := o.file
	if file == "" {
		var err error
		if file, err = home.PricesFile(); err != nil {
			return err
		}
	}
	prices, err := ownPrices(file)
	if err != nil {
		return err
	}
	api, err := aws.OpenPrices(ctx, aws.Options{Profile: o.profile, Endpoint: o.endpoint})
	if err != nil {
		return err
	}
	for _, region := range o.regions {
		one, err := pricesOf(ctx, api, region)
		if err != nil {
			return err
		}
		if err := prices.Add(one); err != nil {
			return err
		}
		r := one.Regions[region]
		fmt.Fprintf(c.Out, "%s: %d classes, %d kinds of RDS volumes and %d of EBS, %d nodes of caches\n", region, len(r.Classes), len(r.RDS), len(r.EBS), len(r.Caches))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("write the prices: %w", err)
	}
	if err := os.WriteFile(file+".new", prices.YAML(), 0o600); err != nil {
		return fmt.Errorf("write the prices: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("write the prices: %w", err)
	}
	fmt.Fprintf(c.Out, "Written to %s.\n", file)
	return nil
}

// ownPrices are those of an earlier update; none is there: an empty catalogue.
func ownPrices(file string) (*price.Catalogue, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &price.Catalogue{Currency: "USD"}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the prices: %w", err)
	}
	own, err := price.Own(file, text)
	if err != nil {
		return nil, err
	}
	if own.Currency == "" {
		own.Currency = "USD"
	}
	if own.Currency != "USD" {
		return nil, hint.With(fmt.Errorf("%s has prices in %s, and AWS's are in USD", file, own.Currency), "write to another file: plimsoll prices update --file FILE")
	}
	return own, nil
}

func pricesOf(ctx context.Context, api *aws.Prices, region string) (*price.Catalogue, error) {
	var all []price.Listed
	var published time.Time
	for _, q := range price.Questions(region) {
		products, at, err := api.Products(ctx, q.Service, q.Where)
		if err != nil {
			return nil, err
		}
		if at.After(published) {
			published = at
		}
		for _, p := range products {
			all = append(all, price.Listed(p))
		}
	}
	one, err := price.Updated(region, time.Now(), published, all)
	if err != nil {
		return nil, hint.With(err, "is it a region's code, such as eu-central-1?")
	}
	return one, nil
}
