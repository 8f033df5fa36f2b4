import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardFirebase

/// A project of a test's own on the real Firestore emulator.
struct FirestoreSite: Sendable {
    let emulator: FirestoreEmulator
    var configuration: FirebaseConfiguration

    init() async throws { self.init(on: try await FirestoreEmulator.running()) }

    init(on emulator: FirestoreEmulator) {
        self.emulator = emulator
        configuration = FirebaseConfiguration(
            project: emulator.newProject(), apiKey: "test", writeLedger: "ledger",
            emulators: FirebaseConfiguration.Emulators(firestore: "127.0.0.1:\(emulator.port)"),
            usesEmulatorVariables: false)
    }

    /// - Parameter port: That of something between here and the emulator.
    func clientContext(
        through port: Int? = nil, transport: any Transport = CurlTransport(), _ context: ModuleContext = ModuleContext()
    ) throws -> FirebaseContext {
        var configuration = configuration
        if let port { configuration.emulators.firestore = "127.0.0.1:\(port)" }
        return try FirebaseModule(configuration, environment: [:]) { transport }.clientContext(context)
    }

    func service(through port: Int? = nil, transport: any Transport = CurlTransport()) throws -> FirestoreService {
        FirestoreService(
            FirestoreDatabase(project: configuration.project), try clientContext(through: port, transport: transport))
    }

    func client(
        through port: Int? = nil, transport: any Transport = CurlTransport(), _ context: ModuleContext = ModuleContext()
    ) async throws -> any StorageClient {
        try await clientContext(through: port, transport: transport, context).makeStorageClient()
    }

    /// Security rules for the project, in effect at once. Without any, everything is allowed.
    func setRules(_ rules: String) async throws {
        try await publish(
            "rules_version = '2'; service cloud.firestore { match /databases/{db}/documents { \(rules) } }")
    }

    /// The whole file.
    func publish(_ content: String) async throws {
        let body: JSON = ["rules": ["files": [["name": "security.rules", "content": .string(content)]]]]
        let transport = CurlTransport()
        let response = try await transport.send(
            HTTPRequest(
                .put,
                "http://127.0.0.1:\(emulator.port)/emulator/v1/projects/\(configuration.project):securityRules",
                headers: ["Content-Type": "application/json"], body: body.bytes()))
        await transport.shutDown()
        guard response.isSuccess else { throw RefusedRules(answer: String(decoding: response.body, as: UTF8.self)) }
    }

    struct RefusedRules: Error { let answer: String }
}
