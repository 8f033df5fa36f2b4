import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// The clients with which the page reads and writes, for each persona its own.
final class PageClients: Sendable {
    struct Pair: Sendable {
        let storage: any StorageClient
        let files: any FileStorageClient
        /// A client of its own, which has to be shut down.
        var owner: Infrastructure?
    }

    /// Makes the clients of a user.
    typealias Acting = @Sendable (Persona.User, Infrastructure) async throws -> Pair

    let infrastructure: Infrastructure
    let hasCredential: Bool
    private let device: (@Sendable () async throws(InfrastructureError) -> Infrastructure)?
    private let project: Pair
    private let acting: Acting?
    private let known = Mutex<[(persona: Persona, pair: Pair, end: ContinuousClock.Instant)]>([])

    /// Tokens are valid for an hour.
    private static let lifetime = Duration.seconds(3000)
    private static let mostPersonas = 16

    /// - Parameters:
    ///   - acting: `nil` for a backend that makes no tokens.
    ///   - device: Makes clients that no one is signed in with; `nil` if `infrastructure` has such.
    init(
        _ infrastructure: Infrastructure, acting: Acting?,
        device: (@Sendable () async throws(InfrastructureError) -> Infrastructure)? = nil
    ) async throws(InfrastructureError) {
        self.infrastructure = infrastructure
        self.device = device
        self.acting = acting
        do throws(InfrastructureError) {
            let clients = try await infrastructure.actingAsProject()
            project = Pair(storage: clients.storage, files: clients.files)
            hasCredential = true
        } catch {
            guard error.code == .invalidConfiguration || error.code == .unsupported else { throw error }
            // Without a credential of the project, it is whoever is signed in.
            project = Pair(storage: infrastructure.storage, files: infrastructure.files)
            hasCredential = false
        }
    }

    func pair(_ persona: Persona) async throws -> Pair {
        switch persona {
        case .project: return project
        case .signedOut:
            if let device {
                if let pair = find(persona) { return pair }
                let new = try await device()
                let pair = Pair(storage: new.storage, files: new.files, owner: new)
                await keep(pair, of: persona)
                return pair
            }
            if hasCredential { return Pair(storage: infrastructure.storage, files: infrastructure.files) }
            throw PageFailure.unsupported(
                "Without a credential of the project, the page reads and writes as whoever is signed in.")
        case .user(let user):
            guard let acting else {
                throw PageFailure.unsupported(
                    "This backend makes no tokens for others. Sign in as this user with “switchyard sign-in”.")
            }
            if let pair = find(persona) { return pair }
            let pair = try await acting(user, infrastructure)
            await keep(pair, of: persona)
            return pair
        }
    }

    func storage(_ persona: Persona) async throws -> any StorageClient { try await pair(persona).storage }

    func files(_ persona: Persona) async throws -> any FileStorageClient { try await pair(persona).files }

    private func find(_ persona: Persona) -> Pair? {
        known.withLock { known in known.first { $0.persona == persona && $0.end > .now }?.pair }
    }

    private func keep(_ pair: Pair, of persona: Persona) async {
        let gone = known.withLock { known in
            var gone = known.filter { $0.persona == persona }
            known.removeAll { $0.persona == persona }
            known.append((persona, pair, .now + Self.lifetime))
            if known.count > Self.mostPersonas { gone.append(known.removeFirst()) }
            return gone
        }
        for one in gone { await one.pair.owner?.shutDown() }
    }

    /// Drops the clients of a user, whose account has changed, or of all.
    func forget(_ userID: String?) async {
        let gone = known.withLock { known in
            func isMeant(_ persona: Persona) -> Bool {
                guard let userID else { return true }
                if case .user(let user) = persona { return user.id == userID }
                return false
            }
            let gone = known.filter { isMeant($0.persona) }
            known.removeAll { isMeant($0.persona) }
            return gone
        }
        for one in gone { await one.pair.owner?.shutDown() }
    }

    func shutDown() async {
        let all = known.withLock { known in
            defer { known = [] }
            return known
        }
        for one in all { await one.pair.owner?.shutDown() }
        await infrastructure.shutDown()
    }

    /// The clients of a user for whom the page has made a token.
    static func pair(
        _ token: String, of user: Persona.User, _ provider: InfrastructureProvider, _ infrastructure: Infrastructure
    ) async throws(InfrastructureError) -> Pair {
        let caller = VerifiedToken(
            token: Secret(token), provider: provider, userID: AuthUser.ID(user.id), issuer: "switchyard",
            expiresAt: Date(timeIntervalSinceNow: 3600))
        let clients = try await infrastructure.acting(as: caller)
        return Pair(storage: clients.storage, files: clients.files)
    }
}
