import Synchronization

/// The state of one service: how its clients are made, the existing clients (one for each provider that is needed), and the
/// board with the chosen one.
final class ServiceClients<Client: Sendable>: AnyServiceClients {
    let service: InfrastructureService
    let board: Switchboard<Client>
    /// Used if no provider was chosen, and before the first client exists.
    let absent: Client
    private let routed: @Sendable (Routed<Client>) -> Client
    private let layered: @Sendable (Client, any ClientLayer) -> Client
    private let make: Make
    private let end: @Sendable (Client) async -> Void
    private let companion: @Sendable (Client, InfrastructureOptions) -> (any Sendable)?
    private let state = Mutex(State())

    typealias Make =
        @Sendable (any InfrastructureModule, ClientDependencies) async throws(InfrastructureError) -> Client

    private struct State {
        /// The clients in use.
        var present: [InfrastructureProvider: Made] = [:]
        /// The clients of the change in progress.
        var next: [InfrastructureProvider: Made] = [:]
        /// Replaced clients that are not finished yet.
        var leaving: [Leaving] = []
        /// Why a provider has no client, for services that may be missing.
        var missingReasons: [InfrastructureProvider: String] = [:]
        /// For each change, the last generation whose calls may still run on the replaced client.
        var generations: [Int: Int] = [:]
        /// The identity of the client on the board.
        var installedIdentity: SwitchPlan.Identity?
    }

    private struct Made {
        let client: Client
        let identity: SwitchPlan.Identity
        var companion: (any Sendable)?
    }

    private struct Leaving {
        let provider: InfrastructureProvider
        let made: Made
        /// The change that replaced it.
        let change: Int
        /// It has no more calls in progress; it is kept only because a change may need it again.
        var isDone = false
        /// It is being shut down.
        var isEnding = false
    }

    /// - Parameters:
    ///   - routed: Makes a client for a route.
    ///   - layered: Wraps a client in a layer; domain clients have none, since the clients below them do.
    ///   - companion: An object that lives as long as a client is in use.
    init(
        _ service: InfrastructureService, _ routed: @escaping @Sendable (Routed<Client>) -> Client,
        layered: @escaping @Sendable (Client, any ClientLayer) -> Client = { client, _ in client },
        end: @escaping @Sendable (Client) async -> Void = { _ in },
        companion: @escaping @Sendable (Client, InfrastructureOptions) -> (any Sendable)? = { _, _ in nil },
        make: @escaping Make
    ) {
        self.service = service
        self.routed = routed
        self.layered = layered
        self.make = make
        self.end = end
        self.companion = companion
        absent = routed(Routed(RefusingRoute(absent: service)))
        board = Switchboard(absent)
    }

    /// The client for apps, which always forwards to the chosen one.
    ///
    /// - Parameter owner: An object that lives as long as the result.
    func client(keeping owner: (any AnyObject & Sendable)? = nil) -> Client {
        routed(Routed(board, keeping: owner))
    }

    /// The client of `provider` in `plan`, with its layers; `nil` if there is none.
    func next(of provider: InfrastructureProvider?, _ plan: SwitchPlan) -> Client? {
        provider.flatMap { provider in state.withLock { $0.next[provider] } }
            .map { plan.layers.around($0.client, layered) }
    }

    /// The clients in use, now or after the change in progress.
    var open: [InfrastructureProvider: Client] {
        state.withLock { $0.present.merging($0.next) { $1 }.mapValues(\.client) }
    }
    /// The replaced clients that are not being shut down yet.
    var leaving: [(provider: InfrastructureProvider, client: Client)] {
        state.withLock { state in
            state.leaving.filter { !$0.isEnding }.map { ($0.provider, $0.made.client) }
        }
    }
    /// Those that `change` replaced.
    func leaving(with change: Int) -> [(provider: InfrastructureProvider, client: Client)] {
        state.withLock { state in
            state.leaving.filter { $0.change == change && !$0.isEnding }.map { ($0.provider, $0.made.client) }
        }
    }

    // MARK: A change

    func reserve(_ plan: SwitchPlan) -> Bool {
        let wanted = plan.providers(for: service).map { ($0, plan.identity(of: service, by: $0)) }
        return state.withLock { state in
            state.next = [:]
            state.missingReasons = [:]
            for (provider, identity) in wanted {
                let known =
                    state.present[provider]
                    ?? state.leaving.last { $0.provider == provider && !$0.isEnding }?.made
                if let known, known.identity == identity { state.next[provider] = known }
            }
            // Domain clients hold no resources.
            return !service.isCore
                || !state.leaving.contains { leaving in
                    wanted.contains { provider, identity in
                        provider == leaving.provider && (leaving.isEnding || identity != leaving.made.identity)
                    }
                }
        }
    }

    func prepare(_ plan: SwitchPlan, _ slots: ClientTable) async throws(InfrastructureError) {
        for provider in plan.providers(for: service) {
            guard let module = plan.module(of: provider) else { continue }
            if state.withLock({ $0.next[provider] != nil }) { continue }
            let identity = plan.identity(of: service, by: provider)
            do throws(InfrastructureError) {
                let client = try await make(module, slots.dependencies(of: service, by: provider, plan))
                state.withLock { $0.next[provider] = Made(client: client, identity: identity) }
            } catch {
                let isLacking = error.code == .unsupported || error.code == .invalidConfiguration
                if isLacking, plan.spared.contains(service) {
                    state.withLock { $0.missingReasons[provider] = error.message }
                    continue
                }
                throw plan.explained(error, service, by: provider)
            }
        }
    }

    /// The stand-in for a missing client; its errors say why.
    private func stand(for provider: InfrastructureProvider?) -> Client {
        guard let reason = provider.flatMap({ provider in state.withLock { $0.missingReasons[provider] } }) else {
            return absent
        }
        return routed(Routed(RefusingRoute(.unsupported) { _ in reason }))
    }

    func discard() async {
        let new = state.withLock { state in
            let new = state.next.filter { provider, made in
                state.present[provider]?.identity != made.identity
                    && !state.leaving.contains {
                        $0.provider == provider && $0.made.identity == made.identity && !$0.isEnding
                    }
            }
            state.next = state.present
            return new
        }
        for made in new.values { await end(made.client) }
        await endDone()
    }

    func replace(_ plan: SwitchPlan, in change: Int) {
        let installedIdentity = plan.installedIdentity(for: service)
        let isChanged = state.withLock { state in
            let left = state.present.filter { state.next[$0.key]?.identity != $0.value.identity }
            let back = state.next
            state.leaving.removeAll { back[$0.provider]?.identity == $0.made.identity && !$0.isEnding }
            state.leaving += left.map { provider, made in
                let bare = Made(client: made.client, identity: made.identity)
                return Leaving(provider: provider, made: bare, change: change)
            }
            state.present = state.next.mapValues { made in
                var made = made
                made.companion = made.companion ?? companion(made.client, plan.options)
                return made
            }
            state.next = state.present
            defer { state.installedIdentity = installedIdentity }
            return state.installedIdentity != installedIdentity
        }
        guard isChanged else { return }
        let chosen = plan.providers(for: service).first
        let generation = board.replace(with: next(of: chosen, plan) ?? stand(for: chosen))
        state.withLock { $0.generations[change] = generation }
    }

    func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        guard let generation = state.withLock({ $0.generations.removeValue(forKey: change) }) else { return 0 }
        return await board.drain(generation, within: deadline, clock: clock)
    }

    func endLeaving(with change: Int) async {
        state.withLock { state in
            for index in state.leaving.indices where state.leaving[index].change == change {
                state.leaving[index].isDone = true
            }
        }
        await endDone()
    }

    /// Ends finished clients, unless a change in progress needs them again.
    private func endDone() async {
        let done = state.withLock { state in
            let next = state.next
            var done: [Leaving] = []
            for index in state.leaving.indices {
                let leaving = state.leaving[index]
                guard leaving.isDone, !leaving.isEnding else { continue }
                guard next[leaving.provider]?.identity != leaving.made.identity else { continue }
                state.leaving[index].isEnding = true
                done.append(leaving)
            }
            return done
        }
        for leaving in done { await end(leaving.made.client) }
        state.withLock { state in
            state.leaving.removeAll { ended in
                ended.isEnding
                    && done.contains { $0.change == ended.change && $0.provider == ended.provider }
            }
        }
    }

    func shutDown() async {
        let all = state.withLock { state in
            defer { state = State() }
            return state.present.values + state.leaving.map(\.made)
        }
        for made in all { await end(made.client) }
    }
}

/// A ``ServiceClients``, whatever its client.
protocol AnyServiceClients: Sendable {
    var service: InfrastructureService { get }

    /// Reserves the clients that `plan` can reuse, including replaced ones that are not being shut down; these are now kept.
    ///
    /// - Returns: Whether the other clients can be made. They cannot while a replaced client may hold something that they
    ///   need.
    func reserve(_ plan: SwitchPlan) -> Bool
    /// Makes the clients of `plan` that ``reserve(_:)`` did not find. They are not visible yet.
    func prepare(_ plan: SwitchPlan, _ slots: ClientTable) async throws(InfrastructureError)
    /// Ends the new clients, because the change failed.
    func discard() async
    /// Puts the chosen client in place, if it differs.
    func replace(_ plan: SwitchPlan, in change: Int)
    /// Waits for calls on the client that `change` replaced.
    ///
    /// - Returns: The number of calls that had not ended by the deadline.
    func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int
    /// Ends the clients that `change` replaced.
    func endLeaving(with change: Int) async
    func shutDown() async
}
