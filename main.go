// Command bide is an HTTP client that waits its turn.
package main

func main() {}
