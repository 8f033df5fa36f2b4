/// `switchyard help`
struct HelpCommand {
    init(_ words: [String]) throws(UsageError) {
        guard words.isEmpty else { throw UsageError("“help” takes no options") }
    }

    func run() -> ExitStatus {
        Terminal.print(HelpCommand.text)
        return .success
    }

    static let text = """
        switchyard: one set of backend clients, with a choice of who stands behind them

        switchyard demo
            Plays the day of a check-in app on the mock provider and prints what happens.

        switchyard conformance [--config FILE] [--client NAME] [--filter TEXT] [--json]
            Runs the checks that every provider passes and prints a table.
            --config FILE   the clients to check, as a configuration in JSON; without it, the mock
            --client NAME   only the checks of one client: \(ConformanceCommand.clientNames)
            --filter TEXT   only the checks whose name holds TEXT
            --json          the whole report as JSON

        switchyard help
            This text.

        Exit status: 0 if all is well, 1 if something failed, 2 if the command was not understood.
        """
}
