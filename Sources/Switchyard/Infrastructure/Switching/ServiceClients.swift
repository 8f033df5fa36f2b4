import Synchronization

/// The clients of one service: how they are made, those that exist, and the board with the chosen one.
final class ServiceClients<Client: Sendable>: AnyServiceClients {
    let service: InfrastructureService
    let board: Switchboard<Client>
    /// Stands in where a client is required and none was chosen.
    let unavailableClient: Client
    private let routed: @Sendable (Routed<Client>) -> Client
    /// A client with a policy around its calls; `nil` for domain clients, since the clients below them have policies.
    private let withPolicy: (@Sendable (Client, CallPolicy) -> Client)?
    private let make: Make
    private let end: @Sendable (Client) async -> Void
    private let attach: @Sendable (Client, InfrastructureOptions) -> (any Sendable)?
    private let state = Mutex(State())

    typealias Make =
        @Sendable (any InfrastructureModule, ClientDependencies) async throws(InfrastructureError) -> Client

    private enum Phase: Equatable {
        /// Made for the change in progress, and not visible yet.
        case prepared
        case inUse
        /// Replaced by a change, and still finishing its calls or its queue.
        case retiring(change: Int)
        /// Its calls have ended; it exists only because the change in progress may use it again.
        case idle(change: Int)
        case closing

        /// The change that replaced it, until it is being closed.
        var change: Int? {
            switch self {
            case .retiring(let change), .idle(let change): change
            case .prepared, .inUse, .closing: nil
            }
        }
    }

    private struct Entry {
        let id: Int
        let provider: InfrastructureProvider
        let identity: SwitchPlan.Identity
        let client: Client
        var phase: Phase
        /// Whether the latest change, which may be in progress, uses it.
        var isWanted = false
        /// Lives as long as the client is in use.
        var attachment: (any Sendable)?
    }

    private struct State {
        /// At most one of a provider is prepared, and one in use.
        var entries: [Entry] = []
        var lastID = 0
        /// Why a provider has no client, for optional services.
        var missingReasons: [InfrastructureProvider: String] = [:]
        /// For each change, the last generation of the board whose calls may still run on the replaced client.
        var generations: [Int: Int] = [:]
        /// The identity of the client on the board.
        var installedIdentity: SwitchPlan.Identity?

        mutating func add(
            _ client: Client, of provider: InfrastructureProvider, _ identity: SwitchPlan.Identity
        ) {
            lastID += 1
            entries.append(
                Entry(
                    id: lastID, provider: provider, identity: identity, client: client, phase: .prepared,
                    isWanted: true))
        }

        mutating func edit(_ body: (inout Entry) -> Void) {
            for index in entries.indices { body(&entries[index]) }
        }

        func wanted(_ provider: InfrastructureProvider) -> Client? {
            entries.first { $0.isWanted && $0.provider == provider }?.client
        }
    }

    /// - Parameters:
    ///   - routed: Makes a client for a route.
    ///   - withPolicy: Puts a policy around a client's calls; domain clients have none, since the clients below them do.
    ///   - attach: Makes an object that lives as long as a client is in use.
    init(
        _ service: InfrastructureService, _ routed: @escaping @Sendable (Routed<Client>) -> Client,
        with withPolicy: (@Sendable (Client, CallPolicy) -> Client)? = nil,
        end: @escaping @Sendable (Client) async -> Void = { _ in },
        attach: @escaping @Sendable (Client, InfrastructureOptions) -> (any Sendable)? = { _, _ in nil },
        make: @escaping Make
    ) {
        self.service = service
        self.routed = routed
        self.withPolicy = withPolicy
        self.make = make
        self.end = end
        self.attach = attach
        unavailableClient = routed(Routed(Route(refusing: Refusal(absent: service))))
        board = Switchboard(.refusal(Refusal(absent: service)))
    }

    /// The client for apps, which always forwards to the chosen one.
    ///
    /// - Parameters:
    ///   - owner: An object that lives as long as the result.
    ///   - start: What puts the first client on the board, when it is needed.
    func client(keeping owner: (any AnyObject & Sendable)? = nil, after start: DeferredStart? = nil) -> Client {
        routed(Routed(Route(board, after: start), keeping: owner))
    }

    /// The client of `provider` in `plan` for a domain client, which names errors itself; `nil` if there is none.
    func prepared(of provider: InfrastructureProvider?, _ plan: SwitchPlan) -> Client? {
        guard let provider, let client = state.withLock({ $0.wanted(provider) }) else { return nil }
        return withPolicy?(client, plan.policies.policy(for: service, of: provider, namesErrors: false)) ?? client
    }

    /// The clients in use, now or after the change in progress.
    var open: [InfrastructureProvider: Client] {
        state.withLock { state in
            let current = state.entries.filter { $0.phase == .inUse || $0.isWanted }
            // Where a provider gets a new client, that one counts.
            return Dictionary(current.map { ($0.provider, $0) }) { $1.isWanted ? $1 : $0 }.mapValues(\.client)
        }
    }

    /// The replaced clients that are not being shut down yet.
    ///
    /// - Parameter change: Only those that this change replaced.
    func retiring(since change: Int? = nil) -> [(provider: InfrastructureProvider, client: Client)] {
        state.withLock { state in
            state.entries.filter { $0.phase.change != nil && (change == nil || $0.phase.change == change) }
                .map { ($0.provider, $0.client) }
        }
    }

    // MARK: A change

    func reserve(_ plan: SwitchPlan) -> Bool {
        let wanted = plan.providers(for: service).map { ($0, plan.identity(of: service, by: $0)) }
        return state.withLock { state in
            state.missingReasons = [:]
            state.edit { $0.isWanted = false }
            for (provider, identity) in wanted {
                let known =
                    state.entries.first { $0.provider == provider && $0.phase == .inUse }
                    ?? state.entries.last { $0.provider == provider && $0.phase.change != nil }
                guard let known, known.identity == identity else { continue }
                state.edit { if $0.id == known.id { $0.isWanted = true } }
            }
            // Domain clients hold no resources.
            return !service.isCore
                || !state.entries.contains { entry in
                    (entry.phase == .closing || (entry.phase.change != nil && !entry.isWanted))
                        && wanted.contains { $0.0 == entry.provider }
                }
        }
    }

    func prepare(_ plan: SwitchPlan, _ clients: ClientTable) async throws(InfrastructureError) {
        for provider in plan.providers(for: service) {
            guard let module = plan.module(of: provider) else { continue }
            if state.withLock({ $0.wanted(provider) != nil }) { continue }
            let identity = plan.identity(of: service, by: provider)
            do throws(InfrastructureError) {
                let client = try await make(module, clients.dependencies(of: service, by: provider, plan))
                state.withLock { $0.add(client, of: provider, identity) }
            } catch {
                let isMissing = error.code == .unsupported || error.code == .invalidConfiguration
                if isMissing, plan.optionalServices.contains(service) {
                    state.withLock { $0.missingReasons[provider] = error.message }
                    continue
                }
                throw plan.explained(error, service, by: provider)
            }
        }
    }

    func discard() async {
        let new = state.withLock { state in
            let new = state.entries.filter { $0.phase == .prepared }
            state.entries.removeAll { $0.phase == .prepared }
            state.edit { $0.isWanted = false }
            return new
        }
        for entry in new { await end(entry.client) }
        await closeIdle()
    }

    func install(_ plan: SwitchPlan, in change: Int) {
        let identity = plan.installedIdentity(for: service)
        let isChanged = state.withLock { state in
            state.edit { entry in
                if entry.isWanted {
                    entry.phase = .inUse
                    entry.attachment = entry.attachment ?? attach(entry.client, plan.options)
                } else if entry.phase == .inUse {
                    entry.phase = .retiring(change: change)
                    entry.attachment = nil
                }
            }
            defer { state.installedIdentity = identity }
            return state.installedIdentity != identity
        }
        guard isChanged else { return }
        let generation = board.connect(target(plan))
        state.withLock { $0.generations[change] = generation }
    }

    /// What calls find now that `plan` is in effect.
    private func target(_ plan: SwitchPlan) -> Switchboard<Client>.Target {
        guard let provider = plan.providers(for: service).first else { return .refusal(Refusal(absent: service)) }
        let (client, reason) = state.withLock { state in
            (
                state.entries.first { $0.provider == provider && $0.phase == .inUse }?.client,
                state.missingReasons[provider]
            )
        }
        guard let client else {
            return .refusal(reason.map { reason in Refusal(.unsupported) { _ in reason } } ?? Refusal(absent: service))
        }
        let policy = withPolicy.map { _ in plan.policies.policy(for: service, of: provider) }
        return .connection(Connection(client: client, policy: policy))
    }

    func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        guard let generation = state.withLock({ $0.generations.removeValue(forKey: change) }) else { return 0 }
        return await board.drain(generation, within: deadline, clock: clock)
    }

    func closeRetired(by change: Int) async {
        state.withLock { state in
            state.edit { if $0.phase == .retiring(change: change) { $0.phase = .idle(change: change) } }
        }
        await closeIdle()
    }

    /// Ends idle clients, unless a change in progress needs them again.
    private func closeIdle() async {
        let done = state.withLock { state in
            var done: [Entry] = []
            state.edit { entry in
                guard case .idle = entry.phase, !entry.isWanted else { return }
                entry.phase = .closing
                done.append(entry)
            }
            return done
        }
        for entry in done { await end(entry.client) }
        state.withLock { state in
            state.entries.removeAll { entry in done.contains { $0.id == entry.id } }
        }
    }

    func shutDown() async {
        let all = state.withLock { state in
            defer { state = State() }
            return state.entries
        }
        for entry in all { await end(entry.client) }
    }
}

/// A ``ServiceClients``, whatever its client.
protocol AnyServiceClients: Sendable {
    var service: InfrastructureService { get }

    /// Marks the clients that `plan` can use again, including replaced ones that are not being shut down.
    ///
    /// - Returns: Whether the other clients can be made. They cannot while a replaced client may hold something that they
    ///   need.
    func reserve(_ plan: SwitchPlan) -> Bool
    /// Makes the clients of `plan` that ``reserve(_:)`` did not find. They are not visible yet.
    func prepare(_ plan: SwitchPlan, _ clients: ClientTable) async throws(InfrastructureError)
    /// Ends the new clients, because the change failed.
    func discard() async
    /// Puts the chosen client on the board, if it differs.
    func install(_ plan: SwitchPlan, in change: Int)
    /// Waits for calls on the client that `change` replaced.
    ///
    /// - Returns: The number of calls that had not ended by the deadline.
    func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int
    /// Shuts down the clients that `change` replaced, unless a change in progress uses them again.
    func closeRetired(by change: Int) async
    func shutDown() async
}
