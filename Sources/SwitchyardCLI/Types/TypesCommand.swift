import Switchyard

struct TypesCommand: BackendCommand {
    let name = "types"
    let backend: BackendOptions
    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("types"))
        backend = BackendOptions(given)
    }
    func run(on backend: OpenBackend) async throws -> ExitStatus { .success }
}
