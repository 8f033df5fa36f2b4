import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Testing

// A feature in the style of reducers, over the clients for accounts, documents, users, contacts, check-ins and
// notifications. The conformances to `Equatable` are synthesised.

struct Note: Codable, Sendable {
    @DocumentID var id: String
    var text: String
}

struct Home {
    struct State: Equatable {
        var session = AuthState.unknown
        var profile: DomainSnapshot<UserModel?>?
        var contacts: DomainSnapshot<[ContactModel]>?
        var history: DomainSnapshot<[CheckInRecord]>?
        var notifications: DomainSnapshot<[NotificationModel]>?
        var notes: TypedSnapshot<Note>?
        var saving: WriteReceipt.State?
        var sync = SyncStatus()
        var failure: DomainError?
        var rejection: StorageError?
    }

    enum Action: Equatable {
        case appeared
        case session(AuthState)
        case profile(DomainSnapshot<UserModel?>)
        case contacts(DomainSnapshot<[ContactModel]>)
        case history(DomainSnapshot<[CheckInRecord]>)
        case notifications(DomainSnapshot<[NotificationModel]>)
        case notes(TypedSnapshot<Note>)
        case sync(SyncStatus)
        case checkInTapped
        case noteEdited(TypedDocument<Note>, String)
        case saving(WriteReceipt.State)
        case failed(DomainError)
        case rejected(StorageError)
    }

    typealias Send = @Sendable (Action) async -> Void
    typealias Effect = @Sendable (_ send: Send) async -> Void

    let backend: Infrastructure
}

extension Home {
    func reduce(_ state: inout State, _ action: Action) -> [Effect] {
        switch action {
        case .appeared: return [followSession, followSync]
        case .session(let session):
            let before = state.session.user?.id
            state.session = session
            guard let user = session.user, user.id != before else { return [] }
            return [
                followProfile, followContacts, followHistory, followNotifications, { await followNotes(of: user, $0) },
            ]
        case .profile(let profile): state.profile = profile
        case .contacts(let contacts): state.contacts = contacts
        case .history(let history): state.history = history
        case .notifications(let notifications): state.notifications = notifications
        case .notes(let notes): state.notes = notes
        case .sync(let sync): state.sync = sync
        case .saving(let saving): state.saving = saving
        case .failed(let error): state.failure = error
        case .rejected(let error): state.rejection = error
        case .checkInTapped: return [checkIn]
        case .noteEdited(let note, let text): return [{ await edit(note, text, $0) }]
        }
        return []
    }
}

extension Home {
    func followSession(_ send: Send) async {
        for await state in backend.auth.authStateStream() { await send(.session(state)) }
    }

    func followSync(_ send: Send) async {
        for await status in backend.syncStatus() { await send(.sync(status)) }
    }

    func followProfile(_ send: Send) async {
        await follow(backend.users.currentUserSnapshots(), send) { .profile($0) }
    }

    func followContacts(_ send: Send) async {
        await follow(backend.contacts.contactsSnapshots(), send) { .contacts($0) }
    }

    func followHistory(_ send: Send) async {
        await follow(backend.checkIns.historySnapshots(), send) { .history($0) }
    }

    func followNotifications(_ send: Send) async {
        await follow(backend.notifications.notificationsSnapshots(), send) { .notifications($0) }
    }

    func followNotes(of user: AuthUser, _ send: Send) async {
        let notes = backend.storage.collection("users").document(user.id).collection("notes", of: Note.self)
        do throws(StorageError) {
            for try await list in notes.stream(ListenOptions(includesMetadataChanges: true)) {
                await send(.notes(list))
            }
        } catch {
            await send(.rejected(error))
        }
    }

    func checkIn(_ send: Send) async {
        do throws(CheckInError) {
            try await backend.checkIns.checkIn()
        } catch {
            await send(.failed(error))
        }
    }

    func edit(_ note: TypedDocument<Note>, _ text: String, _ send: Send) async {
        do throws(StorageError) {
            let receipt = try await note.update(\.text, to: text)
            for await state in receipt.states { await send(.saving(state)) }
        } catch {
            await send(.rejected(error))
        }
    }

    private func follow<Element>(
        _ stream: SnapshotStream<Element, DomainError>, _ send: Send, _ action: @Sendable (Element) -> Action
    ) async {
        do throws(DomainError) {
            for try await element in stream { await send(action(element)) }
        } catch {
            await send(.failed(error))
        }
    }
}

/// Runs the feature: one action after the other, and its effects beside them.
@MainActor private final class Store {
    private(set) var state = Home.State()
    private(set) var actions: [Home.Action] = []
    private let home: Home
    private var effects: [Task<Void, Never>] = []

    init(_ backend: Infrastructure) { home = Home(backend: backend) }

    func send(_ action: Home.Action) {
        actions.append(action)
        for effect in home.reduce(&state, action) {
            effects.append(Task { await effect { [weak self] in await self?.send($0) } })
        }
    }

    func stop() async {
        for effect in effects { effect.cancel() }
        for effect in effects { await effect.value }
    }
}

/// The article on state and screens, done on the mock.
@MainActor @Suite(.timeLimit(.minutes(2))) struct StateArticleTests {
    func subtitle(of history: DomainSnapshot<[CheckInRecord]>) -> String {
        if let error = history.serverError { return error.errorDescription ?? "" }
        return history.isFromCache ? "Not up to date" : ""
    }

    func mark(_ state: WriteReceipt.State) -> String {
        switch state {
        case .local: "Waiting"
        case .sent: "Sending"
        case .acknowledged, .superseded: "Saved"
        case .rejected(let error): error.errorDescription ?? ""
        }
    }

    func line(_ status: SyncStatus) -> String {
        if status.pendingCount == 0 { return status.isOnline == false ? "Offline" : "Saved" }
        if status.isWorking { return "Saving" }
        return "\(status.pendingCount) to send. \(status.firstError?.errorDescription ?? "")"
    }

    @Test func `A feature keeps what clients deliver, online and offline`() async throws {
        let backend = try await MockBackend().infrastructure(signedInAs: "alice")
        let network = try #require(backend.storage.mock?.controls.network)
        let user = try #require(await backend.auth.currentUser)
        let notes = backend.storage.collection("users").document(user.id).collection("notes", of: Note.self)
        try await notes.document("milk").set(Note(text: "Milk"))
        _ = try await backend.users.currentUser()
        try await backend.contacts.add(ContactModel(id: "bob", name: "Bob", isResponder: true))
        let store = Store(backend)
        store.send(.appeared)
        try await eventually("everything is shown") {
            store.state.profile?.value?.id == user.id && store.state.contacts?.value.map(\.name) == ["Bob"]
                && store.state.history?.value == [] && store.state.notifications?.value == []
                && store.state.notes?.map(\.text) == ["Milk"] && store.state.sync.isOnline == true
        }
        #expect(line(store.state.sync) == "Saved")

        network.isOnline = false
        store.send(.checkInTapped)
        let milk = try #require(store.state.notes?.rows.first?.handle)
        store.send(.noteEdited(milk, "Oat milk"))
        try await eventually("both wait") {
            store.state.history?.pendingIDs.count == 1 && store.state.notes?.rows.first?.isPending == true
                && store.state.sync.pendingCount == 2 && store.state.saving == .local
        }
        #expect(store.state.history.map(subtitle) == "Not up to date")
        #expect(store.state.saving.map(mark) == "Waiting")
        #expect(line(store.state.sync) == "2 to send. There is no connection to the server.")
        let offline = store.state
        network.isOnline = true
        try await eventually("both are saved") {
            store.state.history?.pendingIDs == [] && store.state.notes?.hasPendingWrites == false
                && store.state.saving.map(mark) == "Saved" && line(store.state.sync) == "Saved"
        }
        #expect(store.state != offline && store.state.failure == nil && store.state.rejection == nil)
        #expect(store.actions.contains(.saving(.sent)) && store.actions.contains(.checkInTapped))

        store.send(.noteEdited(notes.document("missing"), "Nothing"))
        try await eventually("the rejection") { if case .rejected = store.state.saving { true } else { false } }
        #expect(store.state.saving.map(mark) == "It could not be found.")
        try await eventually("the reason in the status") { store.state.sync.firstError?.code == .notFound }
        await store.stop()
        await backend.shutDown()
    }

    @Test func `Models are values of typed collections, and are saved`() async throws {
        let backend = try await MockBackend().infrastructure(signedInAs: "alice")
        let user = try #require(await backend.auth.currentUser)
        try await backend.contacts.add(ContactModel(id: "bob", name: "Bob", isResponder: true))
        try await backend.contacts.add(ContactModel(id: "carol", name: "Carol"))

        let contacts = backend.storage.collection("users").document(user.id).collection(
            "contacts", of: ContactModel.self)
        let responders = try await contacts.where(\.isResponder, .equal, true).documents()
        let saved = try JSONEncoder().encode(responders.map { $0 })
        #expect(try JSONDecoder().decode([ContactModel].self, from: saved).map(\.name) == ["Bob"])
        await backend.shutDown()
    }

    @Test func `What is typed without a network is one write`() async throws {
        let backend = try await MockBackend().infrastructure(signedInAs: "alice")
        let user = try #require(await backend.auth.currentUser)
        try await backend.storage.disableNetwork()

        let typing = backend.storage.mergingWaitingWrites()
        let draft = typing.collection("users").document(user.id).collection("notes", of: Note.self).document("draft")
        try await draft.set(Note(text: "O"))
        try await draft.update(\.text, to: "Oa")
        let receipt = try await draft.update(\.text, to: "Oat")

        for try await queue in backend.storage.pendingWrites() {
            #expect(queue.map(\.id) == [receipt.batchID])
            break
        }
        #expect(try await draft.get()?.text == "Oat")
        try await backend.storage.enableNetwork()
        try await receipt.acknowledged()
        #expect(try await draft.get(from: .server)?.text == "Oat")
        await backend.shutDown()
    }

    @Test func `A screen shows how far everything is saved`() async throws {
        let backend = try await MockBackend().infrastructure(signedInAs: "alice")
        let network = try #require(backend.storage.mock?.controls.network)
        let (whole, documents) = (LiveSyncStatus(backend), LiveSyncStatus(backend.storage))
        for sync in [whole, documents] {
            #expect(sync.isOnline == nil && sync.pendingCount == 0 && sync.oldestPending == nil)
            try await eventually("the first status") { sync.isOnline == true && sync.lastSynced != nil }
        }
        network.isOnline = false
        try await backend.storage.setDocument("notes/a", ["text": "Milk"])
        for sync in [whole, documents] {
            try await eventually("what waits") { sync.pendingCount == 1 && sync.isOnline == false && !sync.isWorking }
            #expect(sync.oldestPending?.batch.writes.first?.path == "notes/a" && sync.firstError?.code == .unavailable)
        }
        network.isOnline = true
        for sync in [whole, documents] {
            try await eventually("all is saved") { sync.pendingCount == 0 && sync.firstError == nil }
            #expect(sync.status.isOnline == true)
        }
        await backend.shutDown()
    }

    @Test func `A status ends with its object`() async throws {
        let storage = MockStorageClient()
        var sync: LiveSyncStatus? = LiveSyncStatus(storage)
        try await eventually("it is followed") { sync?.isOnline == true && storage.listenerCount == 1 }
        sync = nil
        try await eventually("it is left") { storage.listenerCount == 0 }
    }

    @Test func `Every piece of Swift in the article stands in the tests, line for line`() throws {
        let article = try Article("Sources/Switchyard/Documentation.docc/StateAndScreens.md")
        let others = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("LivePageTests.swift")
        let missing = Set(try article.missing(in: #filePath)).intersection(try article.missing(in: others.path))
        #expect(missing == [])
    }
}
