/// A client for check-ins that forwards every call along its route.
public protocol RoutedCheckInClient: CheckInClient {
    var route: any Route<any CheckInClient> { get }
}

extension RoutedCheckInClient {
    @discardableResult
    public func checkIn() async throws(CheckInError) -> Timestamp {
        try await route.call("check in") { checkIns throws(CheckInError) in try await checkIns.checkIn() }
    }
    public func history(limit: Int) async throws(CheckInError) -> [CheckInRecord] {
        try await route.call(.repeatable("history")) { checkIns throws(CheckInError) in
            try await checkIns.history(limit: limit)
        }
    }
    public func historyStream(limit: Int) -> SnapshotStream<[CheckInRecord], CheckInError> {
        route.snapshots("history stream") { $0.historyStream(limit: limit) }
    }
    public func schedule() async throws(CheckInError) -> CheckInSchedule {
        try await route.call(.repeatable("schedule")) { checkIns throws(CheckInError) in
            try await checkIns.schedule()
        }
    }
    public func setSchedule(_ schedule: CheckInSchedule) async throws(CheckInError) {
        try await route.call(.repeatable("set schedule")) { checkIns throws(CheckInError) in
            try await checkIns.setSchedule(schedule)
        }
    }
    public func setInterval(_ interval: Duration) async throws(CheckInError) {
        try await route.call(.repeatable("set interval")) { checkIns throws(CheckInError) in
            try await checkIns.setInterval(interval)
        }
    }
    public func setReminder(_ reminder: Duration) async throws(CheckInError) {
        try await route.call(.repeatable("set reminder")) { checkIns throws(CheckInError) in
            try await checkIns.setReminder(reminder)
        }
    }
    public func nextCheckIn() async throws(CheckInError) -> Timestamp? {
        try await route.call(.repeatable("next check-in")) { checkIns throws(CheckInError) in
            try await checkIns.nextCheckIn()
        }
    }
}

extension Routed: CheckInClient, RoutedCheckInClient where Client == any CheckInClient {}
