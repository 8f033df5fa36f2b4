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
        /// What nobody uses any more once the calls of that generation have ended.
        var leaving: [InfrastructureProvider: Made] = [:]
        /// Why there is no client of a provider, where one is done without.
        var lacking: [InfrastructureProvider: String] = [:]
        var generation: Int?
        /// What stands on the board.
        var standing: Plan.Identity?
    }

    private struct Made {
        let client: Client
        let identity: Plan.Identity
        var companion: (any Sendable)?
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

    /// The chosen client, whoever that is: what an app uses.
    ///
    /// - Parameter owner: What lives as long as the result.
    func client(keeping owner: (any AnyObject & Sendable)? = nil) -> Client {
        routed(Routed(LeasedRoute(board, keeping: owner)))
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
    var leaving: [InfrastructureProvider: Client] { state.withLock { $0.leaving.mapValues(\.client) } }

    // MARK: A change

    func prepare(_ plan: Plan, _ slots: Slots) async throws(InfrastructureError) {
        state.withLock { state in
            state.next = [:]
            state.lacking = [:]
        }
        for provider in plan.providers(for: service) {
            guard let module = plan.module(of: provider) else { continue }
            let identity = plan.identity(of: service, by: provider)
            if let made = state.withLock({ $0.present[provider] }), made.identity == identity {
                state.withLock { $0.next[provider] = made }
                continue
            }
            do throws(InfrastructureError) {
                let client = try await make(module, slots.grounds(of: service, by: provider, plan))
                let made = Made(client: client, identity: identity, companion: companion(client, plan.surroundings))
                state.withLock { $0.next[provider] = made }
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
        let unwanted = state.withLock { state in
            defer { state.next = state.present }
            return state.next.filter { state.present[$0.key]?.identity != $0.value.identity }
        }
        for made in unwanted.values { await end(made.client) }
    }

    func replace(_ plan: Plan) {
        let standing = plan.standing(for: service)
        let isChanged = state.withLock { state in
            state.leaving = state.present.filter { state.next[$0.key]?.identity != $0.value.identity }
                .mapValues { Made(client: $0.client, identity: $0.identity) }
            state.present = state.next
            state.generation = nil
            defer { state.standing = standing }
            return state.standing != standing
        }
        guard isChanged else { return }
        let chosen = plan.providers(for: service).first
        let generation = board.replace(with: next(of: chosen, plan) ?? stand(for: chosen))
        state.withLock { $0.generation = generation }
    }

    func drain(within deadline: Duration, clock: any Clock<Duration>) async -> Int {
        guard let generation = state.withLock({ $0.generation }) else { return 0 }
        return await board.drain(generation, within: deadline, clock: clock)
    }

    func endLeaving() async {
        let leaving = state.withLock { state in
            defer { state.leaving = [:] }
            return state.leaving
        }
        for made in leaving.values { await end(made.client) }
    }

    func shutDown() async {
        let all = state.withLock { state in
            defer { state = State() }
            return state.present
        }
        for made in all.values { await end(made.client) }
    }
}

/// A ``ServiceSlot``, whatever its client.
protocol AnyServiceSlot: Sendable {
    var service: InfrastructureService { get }

    /// Gets together the clients that `plan` asks for, old ones where they serve. Nobody sees them yet.
    func prepare(_ plan: Plan, _ slots: Slots) async throws(InfrastructureError)
    /// Ends the new ones among them: the change will not be made.
    func discard() async
    /// Puts the chosen one in place, if it is another.
    func replace(_ plan: Plan)
    /// Waits for calls on the client before.
    ///
    /// - Returns: How many had not ended by the deadline.
    func drain(within deadline: Duration, clock: any Clock<Duration>) async -> Int
    /// Ends the clients for which there is no use any more.
    func endLeaving() async
    func shutDown() async
}
