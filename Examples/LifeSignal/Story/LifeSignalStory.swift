public import Foundation
public import Switchyard

/// A day in a check-in app: two people, each with a device, and what their apps do with the clients.
///
/// Everything here is portable: the same story runs on any provider of the two infrastructures.
public struct LifeSignalStory: Sendable {
    private let alice: Infrastructure
    private let bob: Infrastructure
    private let server: Infrastructure?
    private let openMail: @Sendable (String) async throws -> URL
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - alice: One device.
    ///   - bob: Another device of the same project.
    ///   - server: The project's own program, with the project's rights; without one, no one notices a missed check-in.
    ///   - openMail: Returns the link in the newest email to an address, if the project requires confirmation.
    ///   - report: Called with each line of the story.
    public init(
        alice: Infrastructure, bob: Infrastructure, server: Infrastructure? = nil,
        openMail: @escaping @Sendable (String) async throws -> URL = { _ in
            throw AuthError(
                .emailNotConfirmed, "The project asks for addresses to be confirmed. No one reads mail here.")
        },
        report: @escaping @Sendable (String) -> Void
    ) {
        self.alice = alice
        self.bob = bob
        self.server = server
        self.openMail = openMail
        self.report = report
    }

    public func run() async throws {
        let session = SessionWatcher(alice.auth, report: report)
        let bobID = try await join("bob@example.com", "hunter hunter", on: bob.auth)
        let aliceID = try await join("alice@example.com", "correct horse", on: alice.auth)

        try await meet(bobID)
        try await dashboard()
        try await checkIn()
        try await missACheckIn()
        try await search()
        try await chat(aliceID, bobID)
        try await picture(aliceID)
        try await handleRefusals(aliceID)

        try await alice.auth.signOut(.local, wipesLocalData: true)
        await session.waitUntilSignedOut()
    }

    private func join(_ email: String, _ password: Secret, on auth: any AuthClient) async throws -> AuthUser.ID {
        switch try await auth.signUp(email: email, password: password) {
        case .signedIn(let user): return user.id
        case .confirmationSent(let address):
            report("a mail to \(address): its link signs in")
            return try await auth.signIn(with: .emailLink(email: address, try await openMail(address))).id
        }
    }

    /// Profiles, and a mutual contact: both sides or neither.
    private func meet(_ bobID: AuthUser.ID) async throws {
        report("— profiles and contacts")
        _ = try await alice.users.currentUser()
        try await alice.users.updateProfile(ProfileChanges(displayName: "Alice"))
        _ = try await bob.users.currentUser()
        try await bob.users.updateProfile(ProfileChanges(displayName: "Bob"))
        try await alice.contacts.addMutually(
            ContactModel(id: bobID, name: "Bob", isResponder: true),
            me: ContactModel(id: "", name: "Alice", isDependent: true))
        try await alice.contacts.add(ContactModel(id: "carol", name: "Carol"))
        for try await requests in bob.contacts.requestsStream() {
            guard let request = requests.first else { continue }
            report("\(request.contact.name) asks to be on Bob's list")
            try await bob.contacts.accept(request.contact)
            break
        }
        for try await contacts in bob.contacts.contactsStream() where !contacts.isEmpty {
            report("Bob knows \(contacts.map(\.name).joined(separator: ", "))")
            break
        }
    }

    /// Combines three streams for one screen.
    private func dashboard() async throws {
        report("— the first screen")
        let user = alice.users.currentUserStream().mapElements({ $0 }, failure: { $0 as any Error })
        let responders = alice.contacts.contactsStream()
            .mapElements({ $0.filter(\.isResponder) }, failure: { $0 as any Error })
        let unread = alice.notifications.unreadCountStream().mapElements({ $0 }, failure: { $0 as any Error })
        for try await (user, responders, unread) in combineLatest(user, responders, unread) {
            guard let user else { continue }
            let names = responders.map(\.name).joined(separator: ", ")
            report("\(user.displayName ?? "?"): responders: \(names); \(unread) unread notifications")
            break
        }
    }

    private func checkIn() async throws {
        report("— a check-in")
        try await alice.checkIns.setSchedule(CheckInSchedule(interval: .seconds(3600), reminder: .seconds(600)))
        let time = try await alice.checkIns.checkIn()
        for try await user in alice.users.currentUserStream() where user?.lastCheckInAt == time {
            let due = user?.nextCheckInAt?.timeSince(time)
            report("checked in; the next is due in \(due.map { "\($0.components.seconds)" } ?? "?") s")
            break
        }
        report("\(try await alice.checkIns.history().count) check-in in the history")
    }

    /// Two hours later the server finds that the next check-in is missing.
    private func missACheckIn() async throws {
        guard let server else { return }
        report("— a missed check-in")
        // The server goes by what it has, not by what waits on a device.
        try await alice.storage.waitForPendingWrites()
        let missed = MissedCheckIns(project: try await server.actingAsProject().storage)
        let later = Date().addingTimeInterval(7200)
        report("responders whom the server notifies: \(try await missed.notify(at: later))")
        report("and a minute later: \(try await missed.notify(at: later.addingTimeInterval(60)))")
        for try await list in bob.notifications.notificationsStream() {
            guard let notification = list.first else { continue }
            report("Bob reads “\(notification.title)”")
            try await bob.notifications.markAsRead(notification.id)
            break
        }
    }

    /// Searches when the user pauses typing.
    private func search() async throws {
        report("— search while typing")
        let typed = SnapshotStream<String, StorageError> { continuation in
            let task = Task {
                for length in 1...3 { continuation.yield(String("Bob".prefix(length))) }
            }
            return { task.cancel() }
        }
        for try await text in typed.debounce(for: .milliseconds(20)) {
            let found = try await alice.contacts.contacts().filter { $0.name.hasPrefix(text) }
            report("“\(text)”: \(found.map(\.name).joined(separator: ", "))")
            break
        }
    }

    private struct Message: Codable, Sendable {
        var n: Int
        var from: AuthUser.ID
        var text: String
    }

    /// Messages written offline show up at once, and reach the others later.
    private func chat(_ aliceID: AuthUser.ID, _ bobID: AuthUser.ID) async throws {
        report("— a chat that survives the tunnel")
        let place: CollectionPath = "chats/tunnel/messages"
        let hers = alice.storage.collection(place, of: Message.self)
        let his = bob.storage.collection(place, of: Message.self)
        let chat = hers.ordered(by: \.n)
        try await his.document("1").set(Message(n: 1, from: bobID, text: "Where are you?")).acknowledged()

        let isOffline = alice.storage.capabilities.offline
        _ = try await chat.documents()
        if isOffline { try await alice.storage.disableNetwork() }
        let receipt = try await hers.document("2").set(Message(n: 2, from: aliceID, text: "In the tunnel."))
        for try await list in chat.stream() where list.count == 2 {
            report("Alice sees \(list.count) messages\(list.hasPendingWrites ? ", one not sent yet" : "")")
            break
        }
        if isOffline { try await alice.storage.enableNetwork() }
        try await receipt.acknowledged()
        for try await list in his.ordered(by: \.n).stream() where list.count == 2 {
            report("Bob sees “\(list.last?.text ?? "")”")
            break
        }
    }

    /// A file, with its progress.
    private func picture(_ aliceID: AuthUser.ID) async throws {
        report("— a picture")
        let path = FilePath("users", aliceID, "portrait.png")
        let upload = try await alice.files.upload(.data(Data(count: 3_000_000)), to: path)
        var shown = -1
        for await progress in upload.progress {
            let quarter = Int((progress.fraction ?? 0) * 4)
            if quarter > shown { report("\(progress.completedBytes / 1000) of 3000 kB") }
            shown = max(shown, quarter)
        }
        let file = try await upload.result()
        report("“\(file.path.name)” is there, \(file.size / 1000) kB")
    }

    /// Handles the server's refusals where the call was made.
    private func handleRefusals(_ aliceID: AuthUser.ID) async throws {
        report("— refusals")
        let missing = StoragePath("users", aliceID, "contacts", "missing")
        do throws(StorageError) {
            let receipt = try await alice.storage.updateDocument(missing, ["name": "?"])
            try await receipt.acknowledged()
        } catch .notFound {
            report("no such contact: nothing was written")
        }
        do throws(ContactsError) {
            try await alice.contacts.add(ContactModel(id: "carol", name: "Carol again"))
        } catch .alreadyExists {
            report("Carol is a contact already")
        }
    }
}
