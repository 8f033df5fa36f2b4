public import Switchyard

/// A check-in client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let checkIns = StubCheckInClient(checkIn: { Timestamp(Date()) })
/// ```
///
/// Where only the plain stream of two is set, the one that tells more is derived from it.
public struct StubCheckInClient: CheckInClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var checkIn: (@Sendable () async throws -> Timestamp)?
        public var history: (@Sendable (Int) async throws -> [CheckInRecord])?
        public var historyStream: (@Sendable (Int) -> SnapshotStream<[CheckInRecord], CheckInError>)?
        public var historySnapshots: (@Sendable (Int) -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError>)?
        public var schedule: (@Sendable () async throws -> CheckInSchedule)?
        public var setSchedule: (@Sendable (CheckInSchedule) async throws -> Void)?
        public var setInterval: (@Sendable (Duration) async throws -> Void)?
        public var setReminder: (@Sendable (Duration) async throws -> Void)?
        public var nextCheckIn: (@Sendable () async throws -> Timestamp?)?
    }

    public var calls = Calls()
    private let base: any CheckInClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(over base: any CheckInClient = UnsetClients.stubs.checkIns, _ set: (inout Calls) -> Void = { _ in }) {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        checkIn: (@Sendable () async throws -> Timestamp)? = nil,
        history: (@Sendable (Int) async throws -> [CheckInRecord])? = nil,
        historyStream: (@Sendable (Int) -> SnapshotStream<[CheckInRecord], CheckInError>)? = nil,
        historySnapshots: (@Sendable (Int) -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError>)? = nil,
        schedule: (@Sendable () async throws -> CheckInSchedule)? = nil,
        setSchedule: (@Sendable (CheckInSchedule) async throws -> Void)? = nil,
        setInterval: (@Sendable (Duration) async throws -> Void)? = nil,
        setReminder: (@Sendable (Duration) async throws -> Void)? = nil,
        nextCheckIn: (@Sendable () async throws -> Timestamp?)? = nil
    ) {
        self.init {
            $0.checkIn = checkIn
            $0.history = history
            $0.historyStream = historyStream
            $0.historySnapshots = historySnapshots
            $0.schedule = schedule
            $0.setSchedule = setSchedule
            $0.setInterval = setInterval
            $0.setReminder = setReminder
            $0.nextCheckIn = nextCheckIn
        }
    }

    // MARK: Requirements

    @discardableResult
    public func checkIn() async throws(CheckInError) -> Timestamp {
        try await stubbed(CheckInError.self) { try await (calls.checkIn ?? base.checkIn)() }
    }
    public func history(limit: Int) async throws(CheckInError) -> [CheckInRecord] {
        try await stubbed(CheckInError.self) { try await (calls.history ?? base.history)(limit) }
    }
    public func historyStream(limit: Int) -> SnapshotStream<[CheckInRecord], CheckInError> {
        (calls.historyStream ?? base.historyStream)(limit)
    }
    public func historySnapshots(limit: Int) -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError> {
        if calls.historySnapshots == nil, let historyStream = calls.historyStream {
            return historyStream(limit).asDomainSnapshots()
        }
        return (calls.historySnapshots ?? base.historySnapshots)(limit)
    }
    public func schedule() async throws(CheckInError) -> CheckInSchedule {
        try await stubbed(CheckInError.self) { try await (calls.schedule ?? base.schedule)() }
    }
    public func setSchedule(_ schedule: CheckInSchedule) async throws(CheckInError) {
        try await stubbed(CheckInError.self) { try await (calls.setSchedule ?? base.setSchedule)(schedule) }
    }
    public func setInterval(_ interval: Duration) async throws(CheckInError) {
        try await stubbed(CheckInError.self) { try await (calls.setInterval ?? base.setInterval)(interval) }
    }
    public func setReminder(_ reminder: Duration) async throws(CheckInError) {
        try await stubbed(CheckInError.self) { try await (calls.setReminder ?? base.setReminder)(reminder) }
    }
    public func nextCheckIn() async throws(CheckInError) -> Timestamp? {
        try await stubbed(CheckInError.self) { try await (calls.nextCheckIn ?? base.nextCheckIn)() }
    }
}
