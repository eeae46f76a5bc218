// The oracle runs scenarios through Kubernetes' own Endpoints, EndpointSlice and EndpointSliceMirroring controllers in one
// process, without goroutines, network or real time, and prints what they did. See conformance/README.md.
//
//	oracle [-repeat N] < scenarios.jsonl > results.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"os"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func main() {
	repeat := flag.Int("repeat", 1, "play each scenario this often, and tell how many leading rounds always came out the same")
	flag.Parse()
	utilruntime.ErrorHandlers = nil
	utilruntime.PanicHandlers = nil
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	if err := playAll(os.Stdin, os.Stdout, *repeat); err != nil {
		log.Fatal(err)
	}
}

func playAll(in io.Reader, to io.Writer, repeat int) error {
	out := bufio.NewWriter(to)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	dec := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			return out.Flush()
		} else if err != nil {
			return err
		}
		answer, err := play(raw, repeat)
		if err != nil {
			return err
		}
		if err := enc.Encode(answer); err != nil {
			return err
		}
	}
}

// play answers one line: a call of a pure function, or a scenario.
func play(raw json.RawMessage, repeat int) (any, error) {
	var probe struct {
		Fn string `json:"fn"`
	}
	if err := json.Unmarshal(raw, &probe); err != nil {
		return nil, err
	}
	if probe.Fn != "" {
		return runFn(probe.Fn, raw), nil
	}
	parse := func() (*scenario, error) {
		sc := &scenario{}
		return sc, json.Unmarshal(raw, sc)
	}
	sc, err := parse()
	if err != nil {
		return nil, err
	}
	given := userNames(sc)
	res := runScenario(sc)
	if repeat > 1 {
		res.Prefixes = prefixes(res, repeat, given, func() *result {
			again, _ := parse()
			return runScenario(again)
		})
	}
	return res, nil
}
