// A program for the benchmarks: it does the work of "sq-demo token" with golang.org/x/oauth2.
//
// It reads a token file of the demo, which its argument names, checks the file's version and the
// account, and prints the account's access token. An expired token would be refreshed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/oauth2"
)

// document is a token file; its dates count seconds since 2001.
type document struct {
	Version  int                `json:"version"`
	Accounts map[string]account `json:"accounts"`
}

type account struct {
	ID            string            `json:"id"`
	ClientID      string            `json:"client_id"`
	TokenEndpoint string            `json:"token_endpoint"`
	Attributes    map[string]string `json:"attributes"`
	Token         struct {
		AccessToken    string  `json:"access_token"`
		TokenType      string  `json:"token_type"`
		RefreshToken   string  `json:"refresh_token"`
		Scope          string  `json:"scope"`
		ExpirationDate float64 `json:"expiration_date"`
		IssueDate      float64 `json:"issue_date"`
	} `json:"token"`
}

func main() {
	token, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(token)
}

func run(arguments []string) (string, error) {
	if len(arguments) != 1 {
		return "", fmt.Errorf("no file is named")
	}
	account, err := load(arguments[0], "default")
	if err != nil {
		return "", err
	}
	config := oauth2.Config{
		ClientID: account.ClientID,
		Endpoint: oauth2.Endpoint{TokenURL: account.TokenEndpoint},
		Scopes:   []string{account.Token.Scope},
	}
	token, err := config.TokenSource(context.Background(), &oauth2.Token{
		AccessToken:  account.Token.AccessToken,
		TokenType:    account.Token.TokenType,
		RefreshToken: account.Token.RefreshToken,
		Expiry:       date(account.Token.ExpirationDate),
	}).Token()
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}

// load reads an account from a file that is not a symbolic link.
func load(path string, id string) (*account, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	var document document
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	if document.Version != 1 {
		return nil, fmt.Errorf("version %d is unknown", document.Version)
	}
	account, ok := document.Accounts[id]
	if !ok || account.ID != id || account.Token.AccessToken == "" {
		return nil, fmt.Errorf("there is no account %s", id)
	}
	return &account, nil
}

func date(seconds float64) time.Time {
	start := time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC)
	return start.Add(time.Duration(seconds * float64(time.Second)))
}
