import Switchyard
import SwitchyardLocalFirebase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// What somebody meets whose configuration names another project than the local server does.
@Suite struct LocalProjectTests {
    @Test func `An error about the project names both projects and the next step`() async throws {
        let firebase = try LocalFirebase()
        var configuration = FirebaseConfiguration(project: "todo", apiKey: "any", bucket: "photos")
        configuration.usesEmulatorVariables = false
        configuration.emulators = .init(firestore: firebase.host, auth: firebase.host, storage: firebase.host)
        let backend = try await Infrastructure(FirebaseModule(configuration))
        _ = try await backend.auth.signUp(email: "ada@example.com", password: "long enough")
        let error = await #expect(throws: StorageError.self) { try await backend.storage.document("users/ada") }
        #expect(error?.code == .unauthenticated)
        #expect(
            error?.message.contains(
                "The session belongs to the project “demo-switchyard”, which this local Firebase serves, but the call is for “todo”. "
                    + "Set project to “demo-switchyard” in Firebase's configuration, or start the server with the "
                    + "project “todo” (--project).") == true)
        let receipt = try await backend.storage.setDocument("users/ada", ["name": "Ada"])
        let waiting = await #expect(throws: StorageError.self) { try await receipt.acknowledged(within: .seconds(2)) }
        #expect(waiting?.message.contains("the call is for “todo”") == true)
        try await backend.storage.disableNetwork()
        await backend.shutDown()
        await firebase.stop()
    }
}
