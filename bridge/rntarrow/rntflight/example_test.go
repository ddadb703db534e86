package rntflight_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntflight"
)

func Example() {
	// The server of the files below a folder.
	s, err := rntflight.New(&rntflight.Options{Folder: "../../../testdata"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()

	// A client, which may be another program in another language. It could read the endpoints
	// in parallel.
	c, err := flight.NewClientWithMiddleware(l.Addr().String(), nil, nil,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	q := rntflight.Query{File: "dimuon.root", Fields: []string{"Muon_pt"}, Where: "nMuon == 2"}
	info, err := c.GetFlightInfo(ctx, q.Descriptor())
	if err != nil {
		log.Fatal(err)
	}
	entries := int64(0)
	for _, e := range info.Endpoint {
		stream, err := c.DoGet(ctx, e.Ticket)
		if err != nil {
			log.Fatal(err)
		}
		records, err := flight.NewRecordReader(stream)
		if err != nil {
			log.Fatal(err)
		}
		for records.Next() {
			entries += records.RecordBatch().NumRows()
		}
		if err := records.Err(); err != nil {
			log.Fatal(err)
		}
		records.Release()
	}
	stop()
	fmt.Println(entries, "events with two muons,", <-ended)
	// Output: 67918 events with two muons, <nil>
}
