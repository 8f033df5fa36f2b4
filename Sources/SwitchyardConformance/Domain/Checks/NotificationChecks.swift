import Switchyard

extension DomainConformance {
    static let notificationChecks: [DomainCheck] = [
        DomainCheck("notifications need a session") { context in
            try await context.expectFailure(.unauthenticated, as: NotificationError.self, in: "listing them") {
                try await context.notifications.notifications()
            }
            try await context.expectFailure(.unauthenticated, as: NotificationError.self, in: "counting them") {
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
                try await context.storage.document(path).exists, "its document is there still", found: "it is gone")
        },
        DomainCheck("what is not there can be neither read nor deleted") { context in
            try await context.signIn()
            try await context.expectFailure(.notFound, as: NotificationError.self, in: "reading it") {
                try await context.notifications.markAsRead("missing")
            }
            try await context.expectFailure(.notFound, as: NotificationError.self, in: "deleting it") {
                try await context.notifications.delete("missing")
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
