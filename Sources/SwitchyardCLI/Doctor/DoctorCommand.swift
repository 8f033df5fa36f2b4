import Switchyard

struct DoctorCommand: BackendCommand {
    let name = "doctor"
    let backend: BackendOptions
    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("doctor"))
        backend = BackendOptions(given)
    }
    func run(on backend: OpenBackend) async throws -> ExitStatus { .success }
}
