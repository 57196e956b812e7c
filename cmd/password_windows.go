package cmd

// terminalDevice is the console.
const terminalDevice = "CONIN$"
