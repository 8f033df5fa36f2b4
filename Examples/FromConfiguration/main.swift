// The providers come from a configuration, so that the program is the same with any of them:
//
//     FromConfiguration switchyard.json          a file; see the one beside this program
//     SWITCHYARD_DEFAULT=mock FromConfiguration  the environment, as on a server
import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardSupabase

/// What a configuration may name here.
let modules: [ConfigurableModule] = [.firebase, .supabase, .mock]

func makeBackend(_ file: String?) async throws(InfrastructureError) -> Infrastructure {
    if let file { return try await Infrastructure(contentsOf: URL(fileURLWithPath: file), modules: modules) }
    return try await Infrastructure(
        InfrastructureConfiguration(environment: ProcessInfo.processInfo.environment), modules: modules)
}

do throws(InfrastructureError) {
    let backend = try await makeBackend(CommandLine.arguments.dropFirst().first)
    print("documents: \(backend.storage.provider), accounts: \(backend.auth.provider)")
    do {
        _ = try await backend.auth.signInAnonymously()
        let notes = backend.storage.collection("notes")
        let note = try await notes.add(["text": "Set up from outside", "at": .serverTime])
        print("wrote \(note.path)")
    } catch {
        // The set-up is in order; the project says why it takes nothing from here.
        print("the project refused: \(error)")
    }
    await backend.shutDown()
} catch {
    // The message has the place in the file or the variable, what was found, and what to write instead.
    print(error.message)
    exit(1)
}
