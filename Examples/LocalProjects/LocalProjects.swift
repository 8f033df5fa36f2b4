import Foundation
public import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardSupabase

/// The projects for an example: a Firebase and a Supabase in this process, with their real protocols. If this machine has no
/// PostgreSQL for Supabase, the mock has the documents and files.
public struct LocalProjects: Sendable {
    /// Where people sign in.
    public let auth: InfrastructureProvider
    /// Where documents and files are.
    public let storage: InfrastructureProvider
    /// One sentence for the terminal.
    public let description: String
    /// With or without the projects' own keys.
    private let modules: @Sendable (_ isServer: Bool) -> InfrastructureFactory
    private let end: @Sendable () async -> Void

    /// - Parameter rules: Additional rows of `switchyard.rules`, as SQL.
    public static func start(rules: String = "") async throws -> LocalProjects {
        // Supabase requires this claim in tokens, also when hosted.
        var options = LocalFirebaseOptions()
        options.claims = ["role": "authenticated"]
        let firebase = try LocalFirebase(options)
        do {
            var options = LocalSupabaseOptions()
            options.firebase = try FirebaseProject(firebase.project, keys: firebase.publishedKeys)
            options.buckets = ["files"]
            options.scripts = [DocumentSchema.sql, DocumentSchema.domainRules, rules].filter { !$0.isEmpty }
            return LocalProjects(firebase, try await LocalSupabase(options))
        } catch {
            return LocalProjects(firebase, withoutDatabase: error.message)
        }
    }

    private init(_ firebase: LocalFirebase, _ supabase: LocalSupabase) {
        auth = .firebase
        storage = .supabase
        description =
            "accounts on a local Firebase at \(firebase.url), documents and files on a local Supabase at \(supabase.url)"
        let accounts = Self.accounts(on: firebase)
        let data = SupabaseConfiguration(
            url: supabase.url.absoluteString, key: Secret(supabase.anonKey), bucket: "files")
        let serviceKey = Secret(supabase.serviceKey)
        modules = { isServer in
            var data = data
            if isServer { data.serviceKey = serviceKey }
            return InfrastructureFactory(FirebaseModule(accounts), SupabaseModule(data), MockModule())
        }
        end = {
            await supabase.stop()
            await firebase.stop()
        }
    }

    private init(_ firebase: LocalFirebase, withoutDatabase reason: String) {
        auth = .firebase
        storage = .mock
        description =
            "accounts on a local Firebase at \(firebase.url), documents and files on the mock, since there is no local Supabase: "
            + reason
        let accounts = Self.accounts(on: firebase)
        let backend = MockBackend()
        modules = { _ in InfrastructureFactory(FirebaseModule(accounts), MockModule(backend: backend)) }
        end = { await firebase.stop() }
    }

    private static func accounts(on firebase: LocalFirebase) -> FirebaseConfiguration {
        FirebaseConfiguration(
            project: firebase.project, apiKey: "local",
            emulators: FirebaseConfiguration.Emulators(firestore: firebase.host, auth: firebase.host))
    }

    /// Another device of the same projects, with its own clients and no user signed in.
    public func makeDevice() async throws(InfrastructureError) -> Infrastructure { try await make(isServer: false) }

    /// The same, with messages.
    public func makeListeningDevice() async throws(InfrastructureError) -> Infrastructure {
        try await make(isServer: false, hasMessages: true)
    }

    /// A server of the same projects, with their own keys.
    public func makeServer() async throws(InfrastructureError) -> Infrastructure {
        try await make(isServer: true, hasMessages: true)
    }

    private func make(isServer: Bool, hasMessages: Bool = false) async throws(InfrastructureError) -> Infrastructure {
        var selection = InfrastructureSelection(default: storage)
        selection.auth = auth
        if !hasMessages { selection.omit(.messaging) }
        return try await modules(isServer).make(selection)
    }

    public func stop() async { await end() }
}
