import Switchyard

extension DomainConformance {
    static let originChecks: [DomainCheck] = [
        DomainCheck(
            "a check-in without a network is pending in the history, then the server's", needs: .offline, .batches
        ) {
            context in
            try await context.signIn()
            _ = try await context.users.currentUser()
            try await context.settle()
            let history = context.watch(context.checkIns.historySnapshots())
            try await history.newest("the server's empty history") { !$0.isFromCache && $0.value.isEmpty }
            try await context.storage.disableNetwork()
            try await context.checkIns.checkIn()
            let local = try await history.newest("the check-in that waits") { $0.isFromCache && $0.value.count == 1 }
            try expect(local.hasPendingWrites, "the snapshot says that a write is pending", found: "it does not")
            try expectEqual(local.pendingIDs, Set(local.value.map(\.id)), "the IDs that are pending")
            try await context.storage.enableNetwork()
            let saved = try await history.newest("the check-in on the server") {
                !$0.isFromCache && !$0.hasPendingWrites && $0.value.count == 1
            }
            try expectEqual(saved.pendingIDs, [], "the IDs that are pending")
            try expectEqual(saved.serverError, nil, "why the server has not confirmed it")
        },
        DomainCheck("a change of the profile without a network is pending", needs: .offline) { context in
            let account = try await context.signIn()
            _ = try await context.users.currentUser()
            try await context.settle()
            let profile = context.watch(context.users.currentUserSnapshots())
            let same = context.watch(context.users.userSnapshots(account.id))
            try await profile.newest("the server's profile") { !$0.isFromCache && $0.value != nil }
            try await context.storage.disableNetwork()
            try await context.users.updateProfile(ProfileChanges(displayName: "Al"))
            let local = try await profile.newest("the change") { $0.isFromCache && $0.value?.displayName == "Al" }
            try expectEqual(local.pendingIDs, [account.id], "the IDs that are pending")
            try await context.storage.enableNetwork()
            for probe in [profile, same] {
                try await probe.newest("the server's profile with the change") {
                    !$0.isFromCache && !$0.hasPendingWrites && $0.value?.displayName == "Al"
                }
            }
        },
        DomainCheck("lists tell which of their entries are pending", needs: .offline) { context in
            let account = try await context.signIn()
            try await context.contacts.add(ContactModel(id: "bob", name: "Bob"))
            try await context.notify("1", at: 1, to: account.id)
            try await context.settle()
            let contacts = context.watch(context.contacts.contactsSnapshots())
            let notifications = context.watch(context.notifications.notificationsSnapshots())
            let count = context.watch(context.notifications.unreadCountSnapshots())
            let requests = context.watch(context.contacts.requestsSnapshots())
            try await contacts.newest("the server's contact") { !$0.isFromCache && $0.value.map(\.id) == ["bob"] }
            try await notifications.newest("the server's notification") { !$0.isFromCache && $0.value.count == 1 }
            try await count.newest("the server's number") { !$0.isFromCache && $0.value == 1 }
            try await requests.newest("no request, says the server") { !$0.isFromCache && $0.value.isEmpty }
            try await context.storage.disableNetwork()
            try await context.contacts.add(ContactModel(id: "carol", name: "Carol"))
            try await context.notifications.markAsRead("1")
            try await contacts.newest("one pending contact") {
                $0.isFromCache && $0.value.map(\.id) == ["bob", "carol"] && $0.pendingIDs == ["carol"]
            }
            try await notifications.newest("the pending mark") {
                $0.isFromCache && $0.value.map(\.isRead) == [true] && $0.pendingIDs == ["1"]
            }
            try await count.newest("no unread one") { $0.isFromCache && $0.value == 0 }
            try await requests.newest("that the requests are cached") { $0.isFromCache }
            try await context.storage.enableNetwork()
            try await contacts.newest("both on the server") {
                !$0.isFromCache && $0.value.count == 2 && $0.pendingIDs.isEmpty && !$0.hasPendingWrites
            }
        },
    ].within("origin")
}
