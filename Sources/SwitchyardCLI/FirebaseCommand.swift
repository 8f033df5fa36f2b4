import SwitchyardFirebase

/// `switchyard firebase rules`
struct FirebaseCommand {
    init(_ words: [String]) throws(UsageError) {
        guard words.first == "rules" else {
            throw UsageError(
                words.first.map { "there is no “firebase \($0)”; there is “firebase rules”" }
                    ?? "missing subcommand: “firebase rules”")
        }
        guard words.count == 1 else { throw UsageError("“firebase rules” takes no options") }
    }

    func run() -> ExitStatus {
        Terminal.print(FirestoreRules.domain)
        return .success
    }
}
