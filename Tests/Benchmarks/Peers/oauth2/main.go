// A program for the benchmarks: it measures golang.org/x/oauth2 at operations of the SDK.
//
// It reads one command per line and answers each with a line: "ok NANOSECONDS FAILURES" or
// "error TEXT". It ends with its input. Only the work is timed, not the commands and answers.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		taken, failures, err := run(strings.Fields(input.Text()))
		if err != nil {
			fmt.Printf("error %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Printf("ok %d %d\n", taken.Nanoseconds(), failures)
		}
	}
}

// run executes "valid COUNT", "token COUNT URL", "storm COUNT URL" or "read COUNT URL WIDTH".
func run(words []string) (time.Duration, int64, error) {
	if len(words) < 2 {
		return 0, 0, fmt.Errorf("no command and count")
	}
	count, err := strconv.Atoi(words[1])
	if err != nil {
		return 0, 0, err
	}
	switch {
	case words[0] == "valid" && len(words) == 2:
		taken, err := valid(count)
		return taken, 0, err
	case words[0] == "token" && len(words) == 3:
		taken, err := token(count, words[2])
		return taken, 0, err
	case words[0] == "storm" && len(words) == 3:
		taken, failures := storm(count, words[2])
		return taken, failures, nil
	case words[0] == "read" && len(words) == 4:
		width, err := strconv.Atoi(words[3])
		if err != nil {
			return 0, 0, err
		}
		taken, failures := read(count, words[2], width)
		return taken, failures, nil
	}
	return 0, 0, fmt.Errorf("unknown command %q", words)
}

// valid reads a token that does not expire soon, one call after another.
func valid(count int) (time.Duration, error) {
	source := config("").TokenSource(context.Background(), &oauth2.Token{
		AccessToken:  "access",
		TokenType:    "Bearer",
		RefreshToken: "refresh",
		Expiry:       time.Now().Add(time.Hour),
	})
	start := time.Now()
	for i := 0; i < count; i++ {
		token, err := source.Token()
		if err != nil {
			return 0, err
		}
		if token.AccessToken == "" {
			return 0, fmt.Errorf("an empty token")
		}
	}
	return time.Since(start), nil
}

// token makes client credentials requests over one kept connection.
func token(count int, url string) (time.Duration, error) {
	config := clientcredentials.Config{
		ClientID:     "sandbox-service",
		ClientSecret: "sandbox-secret",
		TokenURL:     url,
		// Otherwise the first request would try out which of two styles the server accepts.
		AuthStyle: oauth2.AuthStyleInParams,
	}
	start := time.Now()
	for i := 0; i < count; i++ {
		if _, err := config.Token(context.Background()); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// storm lets many callers ask for an expired token at the same time, and waits for the last one.
func storm(callers int, url string) (time.Duration, int64) {
	source := config(url).TokenSource(context.Background(), &oauth2.Token{
		AccessToken:  "access",
		TokenType:    "Bearer",
		RefreshToken: "refresh",
		Expiry:       time.Now().Add(-time.Hour),
	})
	var failures int64
	var group sync.WaitGroup
	start := time.Now()
	group.Add(callers)
	for i := 0; i < callers; i++ {
		go func() {
			defer group.Done()
			if _, err := source.Token(); err != nil {
				atomic.AddInt64(&failures, 1)
			}
		}()
	}
	group.Wait()
	return time.Since(start), failures
}

// read gets a resource with a valid token, with width requests at a time.
func read(count int, url string, width int) (time.Duration, int64) {
	client := &http.Client{Transport: &oauth2.Transport{
		Source: config("").TokenSource(context.Background(), &oauth2.Token{
			AccessToken:  "access",
			TokenType:    "Bearer",
			RefreshToken: "refresh",
			Expiry:       time.Now().Add(time.Hour),
		}),
		// By default all but two connections would be closed after each request.
		Base: &http.Transport{MaxIdleConnsPerHost: width},
	}}
	var failures int64
	var group sync.WaitGroup
	start := time.Now()
	group.Add(width)
	for i := 0; i < width; i++ {
		go func() {
			defer group.Done()
			for j := 0; j < count/width; j++ {
				if err := get(client, url); err != nil {
					atomic.AddInt64(&failures, 1)
				}
			}
		}()
	}
	group.Wait()
	taken := time.Since(start)
	client.CloseIdleConnections()
	return taken, failures
}

func get(client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || len(body) == 0 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

func config(url string) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     "sandbox-app",
		ClientSecret: "sandbox-secret",
		Endpoint:     oauth2.Endpoint{TokenURL: url, AuthStyle: oauth2.AuthStyleInParams},
	}
}
