import Synchronization

/// All that an infrastructure knows of one service: how its clients are made, those there are, one for each provider that is
/// needed, and the place where the chosen one stands.
final class ServiceSlot<Client: Sendable>: AnyServiceSlot {
    let service: InfrastructureService
    let board: Switchboard<Client>
    /// Stands where nobody was chosen, and before the first client is there.
    let absent: Client
    private let routed: @Sendable (Routed<Client>) -> Client
    private let layered: @Sendable (Client, any ClientLayer) -> Client
    private let make: Make
    private let end: @Sendable (Client) async -> Void
    private let companion: @Sendable (Client, InfrastructureSurroundings) -> (any Sendable)?
    private let state = Mutex(State())

    typealias Make = @Sendable (any InfrastructureModule, Grounds) async throws(InfrastructureError) -> Client

    private struct State {
        /// What is in use.
        var present: [InfrastructureProvider: Made] = [:]
        /// What a change that is under way goes over to.
        var next: [InfrastructureProvider: Made] = [:]
        /// What was exchanged and is not done with yet.
        var leaving: [Leaving] = []
        /// Why there is no client of a provider, where one is done without.
        var lacking: [InfrastructureProvider: String] = [:]
        /// Up to which generation calls may be under way on what a change exchanged.
        var generations: [Int: Int] = [:]
        /// What stands on the board.
        var standing: Plan.Identity?
    }

    private struct Made {
        let client: Client
        let identity: Plan.Identity
        var companion: (any Sendable)?
    }

    private struct Leaving {
        let provider: InfrastructureProvider
        let made: Made
        /// With which change it left.
        let change: Int
        /// Nothing is under way on it any more; only a change that may want it back keeps it.
        var isDone = false
        /// It is being shut down and no longer in use.
        var isEnding = false
    }

    /// - Parameters:
    ///   - routed: The client that goes the way of a route.
    ///   - layered: A client with a layer around it; domain clients have none, since those below them do.
    ///   - companion: What lives as long as a client is in use.
    init(
        _ service: InfrastructureService, _ routed: @escaping @Sendable (Routed<Client>) -> Client,
        layered: @escaping @Sendable (Client, any ClientLayer) -> Client = { client, _ in client },
        end: @escaping @Sendable (Client) async -> Void = { _ in },
        companion: @escaping @Sendable (Client, InfrastructureSurroundings) -> (any Sendable)? = { _, _ in nil },
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

    /// The client that apps use: always the chosen one.
    ///
    /// - Parameter owner: What lives as long as the result.
    func client(keeping owner: (any AnyObject & Sendable)? = nil) -> Client {
        routed(Routed(board, keeping: owner))
    }

    /// The client of `provider` that `plan` leads to, in its layers; `nil` if there is none.
    func next(of provider: InfrastructureProvider?, _ plan: Plan) -> Client? {
        provider.flatMap { provider in state.withLock { $0.next[provider] } }
            .map { plan.layers.around($0.client, layered) }
    }

    /// The clients that are in use, or will be with the change that is under way.
    var open: [InfrastructureProvider: Client] {
        state.withLock { $0.present.merging($0.next) { $1 }.mapValues(\.client) }
    }
    /// The clients that left and are not being shut down yet.
    var leaving: [(provider: InfrastructureProvider, client: Client)] {
        state.withLock { state in
            state.leaving.filter { !$0.isEnding }.map { ($0.provider, $0.made.client) }
        }
    }
    /// Those of them that left with `change`.
    func leaving(with change: Int) -> [(provider: InfrastructureProvider, client: Client)] {
        state.withLock { state in
            state.leaving.filter { $0.change == change && !$0.isEnding }.map { ($0.provider, $0.made.client) }
        }
    }

    // MARK: A change

    func reserve(_ plan: Plan) -> Bool {
        let wanted = plan.providers(for: service).map { ($0, plan.identity(of: service, by: $0)) }
        return state.withLock { state in
            state.next = [:]
            state.lacking = [:]
            for (provider, identity) in wanted {
                let known =
                    state.present[provider]
                    ?? state.leaving.last { $0.provider == provider && !$0.isEnding }?.made
                if let known, known.identity == identity { state.next[provider] = known }
            }
            // Domain clients hold nothing.
            return !service.isCore
                || !state.leaving.contains { leaving in
                    wanted.contains { provider, identity in
                        provider == leaving.provider && (leaving.isEnding || identity != leaving.made.identity)
                    }
                }
        }
    }

    func prepare(_ plan: Plan, _ slots: Slots) async throws(InfrastructureError) {
        for provider in plan.providers(for: service) {
            guard let module = plan.module(of: provider) else { continue }
            if state.withLock({ $0.next[provider] != nil }) { continue }
            let identity = plan.identity(of: service, by: provider)
            do throws(InfrastructureError) {
                let client = try await make(module, slots.grounds(of: service, by: provider, plan))
                state.withLock { $0.next[provider] = Made(client: client, identity: identity) }
            } catch {
                let isLacking = error.code == .unsupported || error.code == .invalidConfiguration
                if isLacking, plan.spared.contains(service) {
                    state.withLock { $0.lacking[provider] = error.message }
                    continue
                }
                throw plan.explained(error, service, by: provider)
            }
        }
    }

    /// What stands in the place of a client that there is not; it says why.
    private func stand(for provider: InfrastructureProvider?) -> Client {
        guard let reason = provider.flatMap({ provider in state.withLock { $0.lacking[provider] } }) else {
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

    func replace(_ plan: Plan, in change: Int) {
        let standing = plan.standing(for: service)
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
                made.companion = made.companion ?? companion(made.client, plan.surroundings)
                return made
            }
            state.next = state.present
            defer { state.standing = standing }
            return state.standing != standing
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

    /// Ends what is done with, unless a change that is under way wants it back.
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

/// A ``ServiceSlot``, whatever its client.
protocol AnyServiceSlot: Sendable {
    var service: InfrastructureService { get }

    /// Sets aside for `plan` the clients that serve it as they are, those included that have left and are not being shut down:
    /// from now on they are not.
    ///
    /// - Returns: Whether there is room for the others. There is none while a client that left may hold what one of `plan`
    ///   needs.
    func reserve(_ plan: Plan) -> Bool
    /// Makes the clients of `plan` that ``reserve(_:)`` has not found. Nobody sees them yet.
    func prepare(_ plan: Plan, _ slots: Slots) async throws(InfrastructureError)
    /// Ends the new ones among them: the change will not be made.
    func discard() async
    /// Puts the chosen one in place, if it is another.
    func replace(_ plan: Plan, in change: Int)
    /// Waits for calls on the client that `change` exchanged.
    ///
    /// - Returns: How many had not ended by the deadline.
    func drain(_ change: Int, within deadline: Duration, clock: any Clock<Duration>) async -> Int
    /// Ends the clients that left with `change`.
    func endLeaving(with change: Int) async
    func shutDown() async
}
