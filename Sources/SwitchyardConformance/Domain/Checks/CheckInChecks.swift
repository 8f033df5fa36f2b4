import Switchyard

extension DomainConformance {
    static let checkInChecks: [DomainCheck] = [
        DomainCheck("checking in needs a session") { context in
            try await context.expectFailure(.notAuthenticated, as: CheckInError.self, in: "checking in") {
                try await context.checkIns.checkIn()
            }
            try await context.expectFailure(.notAuthenticated, as: CheckInError.self, in: "the history") {
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

    static let notificationChecks: [DomainCheck] = [
        DomainCheck("notifications need a session") { context in
            try await context.expectFailure(.notAuthenticated, as: NotificationError.self, in: "listing them") {
                try await context.notifications.notifications()
            }
            try await context.expectFailure(.notAuthenticated, as: NotificationError.self, in: "counting them") {
                try await context.notifications.unreadCount()
            }
        },
        DomainCheck("notifications are listed, the newest first") { context in
            let user = try await context.signIn()
            for (id, seconds) in [("a", 10), ("b", 30), ("c", 20)] {
                try await context.notify(id, at: Int64(seconds), to: user.id)
            }
            let found = try await context.notifications.notifications()
            try expectEqual(found.map(\.id), ["b", "c", "a"], "the names")
            try expectEqual(found.first?.title, "Title b", "the title of the first")
            try expectEqual(found.first?.kind, "test", "its kind")
            try expectEqual(found.first?.isRead, false, "whether it has been read")
        },
        DomainCheck("reading one leaves the others unread") { context in
            let user = try await context.signIn()
            for id in ["a", "b", "c"] { try await context.notify(id, at: 1, to: user.id) }
            try expectEqual(try await context.notifications.unreadCount(), 3, "the number of unread ones")
            try await context.notifications.markAsRead("b")
            try await context.settle()
            try expectEqual(try await context.notifications.unreadCount(), 2, "the number of unread ones")
            let read = try await context.notifications.notifications().filter(\.isRead).map(\.id)
            try expectEqual(read, ["b"], "those that have been read")
        },
        DomainCheck("all can be read at once") { context in
            let user = try await context.signIn()
            for index in 0..<7 { try await context.notify("n\(index)", at: Int64(index), to: user.id) }
            try await context.notifications.markAllAsRead()
            try await context.settle()
            try expectEqual(try await context.notifications.unreadCount(), 0, "the number of unread ones")
            try await context.notifications.markAllAsRead()
        },
        DomainCheck("a deleted notification shows nowhere, and is not counted") { context in
            let user = try await context.signIn()
            for id in ["a", "b"] { try await context.notify(id, at: 1, to: user.id) }
            try await context.notifications.delete("a")
            try await context.settle()
            try expectEqual(try await context.notifications.notifications().map(\.id), ["b"], "those that show")
            try expectEqual(try await context.notifications.unreadCount(), 1, "the number of unread ones")
            let path = try StoragePath(validating: "users/\(user.id)/notifications/a")
            try expect(
                try await context.storage.snapshot(path).exists, "its document is there still", found: "it is gone")
        },
        DomainCheck("what is not there can be neither read nor deleted") { context in
            try await context.signIn()
            try await context.expectFailure(.notFound, as: NotificationError.self, in: "reading it") {
                try await context.notifications.markAsRead("nobody")
            }
            try await context.expectFailure(.notFound, as: NotificationError.self, in: "deleting it") {
                try await context.notifications.delete("nobody")
            }
        },
        DomainCheck("the streams of notifications follow", needs: .live) { context in
            let user = try await context.signIn()
            let list = context.watch(context.notifications.notificationsStream())
            let count = context.watch(context.notifications.unreadCountStream())
            try await list.newest("that there are none") { $0.isEmpty }
            try await count.newest("none unread") { $0 == 0 }
            try await context.notify("a", at: 1, to: user.id)
            try await context.notify("b", at: 2, to: user.id)
            try await list.newest("both") { $0.map(\.id) == ["b", "a"] }
            try await count.newest("two unread") { $0 == 2 }
            try await context.notifications.markAsRead("a")
            try await count.newest("one unread") { $0 == 1 }
            try await context.notifications.delete("b")
            try await list.newest("the one that is left") { $0.map(\.id) == ["a"] && $0[0].isRead }
            try await count.newest("none unread") { $0 == 0 }
        },
        DomainCheck("everybody has notifications of their own") { context in
            let alice = try await context.signIn("alice")
            try await context.notify("a", at: 1, to: alice.id)
            try await context.signIn("bob")
            try expectEqual(try await context.notifications.notifications().count, 0, "the number of Bob's")
        },
    ].within("notifications")
}
