package main

// enetProgram returns the path of the program that speaks with ENet.
func enetProgram() (string, error) { return "", skip{"ENet: not built"} }
