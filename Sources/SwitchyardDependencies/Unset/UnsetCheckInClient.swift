import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetCheckInClient: CheckInClient {
    func checkIn() async throws(CheckInError) -> Timestamp { throw .unset("checkInClient", "checkIn") }
    func history(limit: Int) async throws(CheckInError) -> [CheckInRecord] { throw .unset("checkInClient", "history") }
    func historyStream(limit: Int) -> SnapshotStream<[CheckInRecord], CheckInError> {
        .failing(.unset("checkInClient", "historyStream"))
    }
    func schedule() async throws(CheckInError) -> CheckInSchedule { throw .unset("checkInClient", "schedule") }
    func setSchedule(_ schedule: CheckInSchedule) async throws(CheckInError) {
        throw .unset("checkInClient", "setSchedule")
    }
    func nextCheckIn() async throws(CheckInError) -> Timestamp? { throw .unset("checkInClient", "nextCheckIn") }
}
