import Switchyard
import SwitchyardProviderKit

/// One machine with a store of its own, worked by hand: each test says when what happens.
struct SessionBench {
    var machine: SessionMachine
    var record: SessionRecord
    var now: Int64 = 0
    private(set) var prepared: [Int] = []
    private(set) var calls: [(number: Int, session: AuthSession)] = []
    private(set) var abandoned: [Int] = []
    private(set) var results: [Int: Result<AccessToken, AuthError>] = [:]
    private(set) var published: [AuthState] = []
    private(set) var refreshes: [AuthError.Code?] = []

    init(_ record: SessionRecord = .none, policy: SessionMachine.Policy = SessionMachine.Policy()) {
        machine = SessionMachine(policy: policy)
        self.record = record
        send(.found(record))
    }

    @discardableResult
    mutating func send(_ event: SessionMachine.Event) -> SessionChangeResult? {
        var result: SessionChangeResult?
        for action in machine.handle(event, at: SessionSamples.time(now)) {
            switch action {
            case .prepare(let number): prepared.append(number)
            case .call(let number, let session): calls.append((number, session))
            case .abandon(let number): abandoned.append(number)
            case .resume(let waiter, let outcome): results[waiter] = outcome
            case .publish(let state): published.append(state)
            case .refreshed(let failure): refreshes.append(failure?.code)
            case .change(let change):
                if let changed = change.applied(to: record) {
                    record = changed
                    result = .kept(changed)
                } else {
                    result = .overtaken(record)
                }
                if let result { send(.changed(change, result)) }
            }
        }
        return result
    }

    /// Another process changes the stored session; noticed at the next read.
    mutating func elsewhere(_ record: SessionRecord) { self.record = record }

    mutating func want(_ waiter: Int, refreshing: Bool = false, session: String? = nil) {
        send(.tokenWanted(waiter, session: session, refreshing: refreshing))
    }

    /// With the lease, the stored session is read again.
    mutating func prepare(_ number: Int) {
        send(.found(record))
        send(.prepared(number))
    }

    func token(_ waiter: Int) -> String? { try? results[waiter]?.get().value.reveal() }
    func code(_ waiter: Int) -> AuthError.Code? {
        if case .failure(let error)? = results[waiter] { error.code } else { nil }
    }
}
