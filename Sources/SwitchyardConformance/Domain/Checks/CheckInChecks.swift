import Switchyard

extension DomainConformance {
    static let checkInChecks: [DomainCheck] = [
        DomainCheck("checking in needs a session") { context in
            try await context.expectFailure(.unauthenticated, as: CheckInError.self, in: "checking in") {
                try await context.checkIns.checkIn()
            }
            try await context.expectFailure(.unauthenticated, as: CheckInError.self, in: "the history") {
                try await context.checkIns.history()
            }
        },
        DomainCheck("a check-in is in the history and in the profile, with the time it gave", needs: .batches) {
            context in
            let account = try await context.signIn()
            _ = try await context.users.currentUser()
            let time = try await context.checkIns.checkIn()
            try await context.settle()
            let history = try await context.checkIns.history()
            try expectEqual(history.map(\.checkedInAt), [time], "the times in the history")
            try expectEqual(history.map(\.userID), [account.id], "whose they are")
            _ = try expectValue(history.first?.recordedAt, "the time at which the server took note")
            try expectEqual(try await context.users.currentUser().lastCheckInAt, time, "the last time in the profile")
        },
        DomainCheck("the history has the newest first, ten unless more are asked for", needs: .batches) { context in
            try await context.signIn()
            var times: [Timestamp] = []
            for _ in 0..<12 { times.append(try await context.checkIns.checkIn()) }
            try await context.settle()
            let newest = try await context.checkIns.history().map(\.checkedInAt)
            try expectEqual(newest, Array(times.sorted(by: >).prefix(10)), "the newest ten")
            try expectEqual(try await context.checkIns.history(limit: 3).count, 3, "how many of three")
            try expectEqual(try await context.checkIns.history(limit: 50).count, 12, "how many of fifty")
        },
        DomainCheck("the history is one's own", needs: .batches) { context in
            try await context.signIn("alice")
            try await context.checkIns.checkIn()
            try await context.settle()
            try await context.signIn("bob")
            try expectEqual(try await context.checkIns.history().count, 0, "the number of Bob's check-ins")
        },
        DomainCheck("a history of nothing cannot be asked for") { context in
            try await context.signIn()
            try await context.expectFailure(.invalidArgument, as: CheckInError.self, in: "the history") {
                try await context.checkIns.history(limit: 0)
            }
        },
        DomainCheck("a day and two hours are the usual schedule") { context in
            try await context.signIn()
            let schedule = try await context.checkIns.schedule()
            try expectEqual(schedule.interval, .seconds(86_400), "the interval")
            try expectEqual(schedule.reminder, .seconds(7_200), "the reminder")
        },
        DomainCheck("a schedule that was set is kept") { context in
            try await context.signIn()
            _ = try await context.users.currentUser()
            let schedule = try CheckInSchedule(interval: .seconds(3600), reminder: .seconds(90))
            try await context.checkIns.setSchedule(schedule)
            try await context.settle()
            try expectEqual(try await context.checkIns.schedule(), schedule, "the schedule")
            try expectEqual(
                try await context.users.currentUser().checkInInterval, .seconds(3600), "the interval in the profile")
        },
        DomainCheck("a schedule that makes no sense is refused") { context in
            for (interval, reminder) in [
                (0, 0), (59, 1), (-5, 0), (3600, 3600), (3600, 7200), (3600, -1), (400 * 86_400, 1),
            ] {
                try await context.expectFailure(.invalidArgument, as: CheckInError.self, in: "a schedule like this") {
                    try CheckInSchedule(interval: .seconds(interval), reminder: .seconds(reminder))
                }
            }
        },
        DomainCheck("each stored interval counts, whether the other is there or not", needs: .batches) { context in
            let user = try await context.signIn()
            let time = try await context.checkIns.checkIn()
            try await context.checkIns.setInterval(.seconds(3600))
            try await context.settle()
            let schedule = try await context.checkIns.schedule()
            try expectEqual(schedule, try CheckInSchedule(interval: .seconds(3600)), "the schedule of an hour")
            try expectEqual(schedule.reminder, .seconds(300), "its usual reminder")
            let due = time.advanced(by: .seconds(3600))
            try expectEqual(try await context.checkIns.nextCheckIn(), due, "when the next is due")
            try expectEqual(try await context.users.user(user.id).nextCheckInAt, due, "when the profile says so")
            try expectEqual(
                try await context.users.user(user.id).nextReminderAt, time.advanced(by: .seconds(3300)), "the reminder")
            try await context.checkIns.setReminder(.seconds(1800))
            try await context.settle()
            try expectEqual(try await context.checkIns.schedule().reminder, .seconds(1800), "the reminder that was set")
            // An interval that is shorter than the stored reminder has the usual one.
            try await context.checkIns.setInterval(.seconds(1200))
            try await context.settle()
            try expectEqual(
                try await context.checkIns.schedule(), try CheckInSchedule(interval: .seconds(1200)),
                "the shorter schedule")
            for reminder in [1200, 5000, -1] {
                try await context.expectFailure(
                    .invalidArgument, as: CheckInError.self, in: "a reminder of \(reminder) s"
                ) {
                    try await context.checkIns.setReminder(.seconds(reminder))
                }
            }
            try await context.expectFailure(.invalidArgument, as: CheckInError.self, in: "an interval of a second") {
                try await context.checkIns.setInterval(.seconds(1))
            }
        },
        DomainCheck("the next check-in is due an interval after the last", needs: .batches) { context in
            try await context.signIn()
            _ = try await context.users.currentUser()
            try expectEqual(try await context.checkIns.nextCheckIn(), nil, "the next check-in before the first")
            try await context.checkIns.setSchedule(CheckInSchedule(interval: .seconds(3600), reminder: .seconds(60)))
            let time = try await context.checkIns.checkIn()
            try await context.settle()
            try expectEqual(
                try await context.checkIns.nextCheckIn(), time.advanced(by: .seconds(3600)), "the next check-in")
        },
        DomainCheck("the stream of check-ins follows", needs: .live, .batches) { context in
            try await context.signIn()
            let probe = context.watch(context.checkIns.historyStream(limit: 2))
            try await probe.newest("that there are none") { $0.isEmpty }
            let first = try await context.checkIns.checkIn()
            try await probe.newest("the first") { $0.map(\.checkedInAt) == [first] }
            let second = try await context.checkIns.checkIn()
            let third = try await context.checkIns.checkIn()
            let newest = Array([first, second, third].sorted(by: >).prefix(2))
            try await probe.newest("the newest two") { $0.map(\.checkedInAt) == newest }
        },
    ].within("check-ins")
}
