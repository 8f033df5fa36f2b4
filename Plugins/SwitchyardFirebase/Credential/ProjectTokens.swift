import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire
import Synchronization

/// The project's own tokens, cached until shortly before they expire.
final class ProjectTokens: Sendable {
    /// The token that emulators accept as the project's.
    static let owner: Secret = "owner"
    /// How long before its expiry a token is replaced.
    private static let margin: TimeInterval = 60

    /// The service account whose key signs, if there is one.
    let account: GoogleKeyFile.ServiceAccount?
    /// Whether each call must name the project, because the credential is a user's.
    private let namesProject: Bool
    private let tokens: GoogleTokens
    private let name = Mutex<String?>(nil)
    private let kept = Mutex<FirebaseCredential.Token?>(nil)
    private let flight = SingleFlight<Secret, AuthError>(cancellation: { .waiterCancelled })

    init(
        _ source: GoogleTokens.Source, transport: any Transport, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp
    ) {
        tokens = GoogleTokens(source: source, transport: transport, clock: clock, now: now)
        account = if case .keyFile(.serviceAccount(let account)) = source { account } else { nil }
        namesProject = if case .keyFile(.user) = source { true } else { false }
    }

    /// For services that are all emulators.
    static func ofEmulators(transport: any Transport, clock: any Clock<Duration>) -> ProjectTokens {
        ProjectTokens(
            .closure { _ throws(AuthError) in
                throw AuthError(.unauthenticated, "Firebase's configuration has no credential of the project.")
            }, transport: transport, clock: clock, now: { Timestamp(Date()) })
    }

    /// - Parameter refused: The token that the server refused; another one is returned.
    func token(for endpoint: FirebaseEndpoint, replacing refused: Secret? = nil) async throws(AuthError) -> Secret {
        // Never send a real token to an emulator.
        if endpoint.isEmulator { return Self.owner }
        guard endpoint.mayCarryTokens else { throw AuthError(.invalidArgument, PlainHTTP.refusal(of: "token")) }
        if let token = good(replacing: refused) { return token }
        let token = try await flight.run { [self] () async throws(AuthError) in
            // Another call may have fetched one since the check above.
            if let token = good(replacing: refused) { return token }
            let token = try await tokens.fetch(isRefused: refused != nil)
            kept.withLock { $0 = token }
            return token.value
        }
        return token
    }

    /// Whether the credential belongs to a service account whose address can be determined.
    var knowsAccount: Bool { tokens.source.hasAccount }

    /// The address of the credential's service account, requested only once.
    func accountName() async throws(AuthError) -> String {
        if let known = name.withLock({ $0 }) { return known }
        let found = try await tokens.accountName()
        name.withLock { $0 = found }
        return found
    }

    /// The header fields for a call in the project's name.
    func headers(with token: Secret, for project: String?) -> [(String, String)] {
        var headers = [("Authorization", "Bearer \(token.reveal())")]
        if namesProject, let project { headers.append(("x-goog-user-project", project)) }
        return headers
    }

    private func good(replacing refused: Secret?) -> Secret? {
        guard let token = kept.withLock({ $0 }), token.value != refused,
            token.expiresAt.timeIntervalSince(tokens.now().date) > Self.margin
        else { return nil }
        return token.value
    }
}

extension FirebaseCredential {
    /// Reads the credential's file, and throws if it cannot be used.
    ///
    /// - Parameter environment: The environment, for the variables of Google's own tools.
    func resolved(environment: [String: String]) throws(InfrastructureError) -> GoogleTokens.Source {
        switch source {
        case .closure(_, let source): return .closure(source)
        case .text(let text):
            let place = text.name.map { "the text of the variable \($0)" } ?? "the text of a key file"
            return .keyFile(try GoogleKeyFile(text, from: place))
        case .file(let file): return .keyFile(try Self.read(file))
        case .applicationDefault:
            let variable = "GOOGLE_APPLICATION_CREDENTIALS"
            if let path = environment[variable], !path.isEmpty {
                return .keyFile(try Self.read(KeyFilePath(Secret(path, name: variable))))
            }
            if let path = Self.userFile(environment), FileManager.default.fileExists(atPath: path) {
                return .keyFile(try Self.read(KeyFilePath(path)))
            }
            let host = environment["GCE_METADATA_HOST"].flatMap { $0.isEmpty ? nil : $0 }
            return .machine(host: host ?? "metadata.google.internal")
        }
    }

    private static func read(_ file: KeyFilePath) throws(InfrastructureError) -> GoogleKeyFile {
        guard let data = FileManager.default.contents(atPath: file.path) else {
            throw InfrastructureError(.invalidConfiguration, "Firebase's credential, \(file.shown), \(file.problem)")
        }
        return try GoogleKeyFile(Secret(String(decoding: data, as: UTF8.self)), from: file.shown)
    }

    /// The file in which `gcloud` stores a user's credential.
    private static func userFile(_ environment: [String: String]) -> String? {
        let folder =
            environment["CLOUDSDK_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
            ?? environment["HOME"].map { $0 + "/.config/gcloud" }
        return folder.map { $0 + "/application_default_credentials.json" }
    }
}
