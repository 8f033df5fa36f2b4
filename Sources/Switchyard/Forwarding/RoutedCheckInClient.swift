/// Forwards every call along the route.
extension Routed: CheckInClient where Client == any CheckInClient {
    @discardableResult
    package func checkIn() async throws(CheckInError) -> Timestamp {
        try await route.call("check in") { checkIns throws(CheckInError) in try await checkIns.checkIn() }
    }
    package func history(limit: Int) async throws(CheckInError) -> [CheckInRecord] {
        try await route.call(.repeatable("history")) { checkIns throws(CheckInError) in
            try await checkIns.history(limit: limit)
        }
    }
    package func historyStream(limit: Int) -> SnapshotStream<[CheckInRecord], CheckInError> {
        route.snapshots("history stream") { $0.historyStream(limit: limit) }
    }
    package func historySnapshots(limit: Int) -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError> {
        route.snapshots("history snapshots") { $0.historySnapshots(limit: limit) }
    }
    package func schedule() async throws(CheckInError) -> CheckInSchedule {
        try await route.call(.repeatable("schedule")) { checkIns throws(CheckInError) in
            try await checkIns.schedule()
        }
    }
    package func setSchedule(_ schedule: CheckInSchedule) async throws(CheckInError) {
        try await route.call(.repeatable("set schedule")) { checkIns throws(CheckInError) in
            try await checkIns.setSchedule(schedule)
        }
    }
    package func setInterval(_ interval: Duration) async throws(CheckInError) {
        try await route.call(.repeatable("set interval")) { checkIns throws(CheckInError) in
            try await checkIns.setInterval(interval)
        }
    }
    package func setReminder(_ reminder: Duration) async throws(CheckInError) {
        try await route.call(.repeatable("set reminder")) { checkIns throws(CheckInError) in
            try await checkIns.setReminder(reminder)
        }
    }
    package func nextCheckIn() async throws(CheckInError) -> Timestamp? {
        try await route.call(.repeatable("next check-in")) { checkIns throws(CheckInError) in
            try await checkIns.nextCheckIn()
        }
    }
}
