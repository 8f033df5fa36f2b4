import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// What the articles on files, messages and the domain clients say, done on the mock.
@Suite struct FilesArticleTests {
    private final class Screen: Sendable {
        private let shown = Mutex<[String]>([])
        var texts: [String] { shown.withLock { $0 } }
        func show(_ text: String) { shown.withLock { $0.append(text) } }
    }

    private let project = MockBackend()
    private let screen = Screen()
    private let folder = ScratchSpace.url.appendingPathComponent("files-article-\(UInt64.random(in: 0 ... .max))")

    private func show(_ fraction: Double?) { screen.show(fraction.map { "\(Int($0 * 100)) %" } ?? "…") }
    private func show(_ title: String, _ body: String, opened: Bool) { screen.show("\(title): \(body), \(opened)") }
    private func consume(_ chunk: Data) { screen.show(String(decoding: chunk, as: UTF8.self)) }

    private func withFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body()
    }

    @Test func `Files go up with their progress, and come down again`() async throws {
        try await withFolder {
            let backend = try await Infrastructure(.mock(project))
            let user = try await backend.auth.signUp(email: "alice@example.com", password: "a long one").get()
            let id = "1"
            let photo = folder.appendingPathComponent("photo.jpg")
            try Data(repeating: 7, count: 1 << 20).write(to: photo)

            let files = backend.files
            try await files.put(Data("Hello".utf8), at: "notes/\(id).txt")

            let transfer = try await files.upload(.file(photo), to: "avatars/\(user.id).jpg")
            for await progress in transfer.progress { show(progress.fraction ?? 0) }
            let stored = try await transfer.result()
            print(stored.size, stored.contentType)
            #expect(stored.size == 1 << 20 && stored.contentType == "image/jpeg")
            #expect(screen.texts.last == "100 %")

            let text = try await files.data(at: "notes/\(id).txt")
            try await files.put(Data("tour".utf8), at: "videos/tour.mp4")
            let destination = folder.appendingPathComponent("copy")
            let download = try await files.download("videos/tour.mp4", to: destination)
            for try await chunk in files.bytes(of: "videos/tour.mp4") { consume(chunk) }
            #expect(text == Data("Hello".utf8) && screen.texts.last == "tour")
            _ = try await download.result()
            #expect(try Data(contentsOf: destination) == Data("tour".utf8))

            try await files.put(Data([1]), at: "avatars/alice.jpg")
            let folder = try await files.list("avatars")
            for file in folder.files { print(file.path, file.size) }
            let top = try await files.list()
            #expect(top.folders.contains("avatars"))
            try await files.updateMetadata(of: "avatars/alice.jpg", FileMetadataChanges(custom: ["by": "alice"]))
            let address = try await files.downloadURL(of: "avatars/alice.jpg", expiresIn: .seconds(3600))
            #expect(folder.files.count == 2 && !address.absoluteString.isEmpty)
            #expect(try await files.metadata(of: "avatars/alice.jpg").custom == ["by": "alice"])
            await backend.shutDown()
        }
    }

    @Test func `An upload that was interrupted goes on with the next program`() async throws {
        try await withFolder {
            let state = folder.appendingPathComponent("state")
            let photo = folder.appendingPathComponent("photo.jpg")
            try Data(repeating: 7, count: 1 << 20).write(to: photo)
            let device = MockModule(backend: project)
            let before = try await Infrastructure(device, stateFolder: state)
            // The first quarter arrives, and then nothing does any more.
            before.files.mock?.controls.fail(.uploadPart, onCall: 2, times: 1000, with: .unavailable)
            let transfer = try await before.files.upload(.file(photo), to: "avatars/alice.jpg")
            // Why nothing gets through is said before the program ends.
            for await progress in transfer.progress {
                show(progress.fraction)
                if let error = progress.lastError { print("Still trying: \(error.message)") }
                if progress.lastError != nil { break }
            }
            await before.shutDown()

            let backend = try await Infrastructure(device, stateFolder: state)
            let files = backend.files
            for upload in try await files.interruptedUploads() {
                let transfer = try await files.resumeUpload(upload.id)
                _ = try await transfer.result()
            }
            #expect(try await files.metadata(of: "avatars/alice.jpg").size == 1 << 20)
            #expect(try await files.interruptedUploads().isEmpty)
            await backend.shutDown()
        }
    }

    @Test func `A device registers, subscribes and reads what arrives`() async throws {
        let backend = try await Infrastructure(.mock(project))
        let messaging = backend.messaging
        let token = try await messaging.token()
        try await messaging.subscribe(to: "news")

        project.messages.send(title: "Rain", body: "Take an umbrella.", to: MessagingTopic("news"))
        for try await message in messaging.messageStream() {
            show(message.title ?? "", message.body ?? "", opened: message.wasOpened)
            break
        }
        #expect(screen.texts == ["Rain: Take an umbrella., false"])

        let sender = try await backend.messageSender()
        try await sender.send(OutgoingMessage(to: .device(token), title: "Your order is ready", data: ["order": "42"]))
        try await sender.send(OutgoingMessage(to: .condition(.topic("news") && !.topic("quiet")), title: "Hello"))
        #expect(project.messages.sent.map(\.title) == ["Rain", "Your order is ready", "Hello"])
        await backend.shutDown()
    }

    @Test func `People keep a profile, contacts and signs of life`() async throws {
        let backend = try await Infrastructure(.mock(project))
        let other = try await Infrastructure(.mock(project))
        let bobID = try await other.auth.signUp(email: "bob@example.com", password: "a long one").get().id
        let alice = try await backend.auth.signUp(email: "alice@example.com", password: "a long one").get()
        try await backend.users.updateProfile(ProfileChanges(displayName: "Alice"))
        try await backend.contacts.addMutually(
            ContactModel(id: bobID, name: "Bob", isResponder: true),
            me: ContactModel(id: "", name: "Alice", isDependent: true))
        try await backend.checkIns.checkIn()
        #expect(try await backend.users.currentUser().displayName == "Alice")
        for request in try await other.contacts.requests() {
            try await other.contacts.accept(request.contact)
        }
        #expect(try await other.storage.document("users/\(bobID)/contacts/\(alice.id)", from: .server).exists)
        await backend.shutDown()
        await other.shutDown()
    }

    struct Person: Codable, Sendable {
        var lastCheckInAt: Date?
        var checkInInterval: Double?
    }

    /// No one has a phone.
    private func devices(of responder: String) async throws -> [MessagingToken] { [] }

    private func notifyOfMissedCheckIns(at now: Date, on backend: Infrastructure) async throws {
        func notifyOfMissedCheckIns(at now: Date) async throws {
            let project = try await backend.actingAsProject().storage
            let sender = try await backend.messageSender()
            let people = project.collection("users", of: Person.self).where(\.lastCheckInAt, .lessThan, now)
            try await people.forEach(parallel: 8) { person in
                guard let last = person.value.lastCheckInAt else { return }
                let due = last.addingTimeInterval(person.value.checkInInterval ?? 86_400)
                guard due < now else { return }
                let missed = NotificationModel(
                    id: "missed-\(person.id.id)-\(Int(due.timeIntervalSince1970))", title: "A check-in is missing",
                    body: "It was due at \(due).", kind: "missedCheckIn", sentAt: Timestamp(now))
                let contacts = Query(in: person.id.collection("contacts")).where("isResponder", .equal, true)
                for responder in try await project.documents(contacts).documents {
                    do throws(StorageError) {
                        let place: StoragePath = "users/\(responder.id)/notifications/\(missed.id)"
                        try await project.createDocument(place, missed.fields).acknowledged()
                    } catch .alreadyExists {
                        continue
                    } catch {
                        throw error
                    }
                    for device in try await devices(of: responder.id) {
                        try await sender.send(OutgoingMessage(to: .device(device), title: missed.title))
                    }
                }
            }
        }
        try await notifyOfMissedCheckIns(at: now)
    }

    @Test func `A missed check-in is reported once`() async throws {
        let backend = try await Infrastructure(.mock(project))
        let other = try await Infrastructure(.mock(project))
        let bobID = try await other.auth.signUp(email: "bob@example.com", password: "a long one").get().id
        let alice = try await backend.auth.signUp(email: "alice@example.com", password: "a long one").get()
        try await backend.contacts.add(ContactModel(id: bobID, name: "Bob", isResponder: true))
        try await backend.contacts.add(ContactModel(id: "carol", name: "Carol"))
        try await backend.checkIns.checkIn()
        #expect(!alice.id.isEmpty)

        try await notifyOfMissedCheckIns(at: Date(timeIntervalSinceNow: 3600), on: backend)
        #expect(try await other.notifications.notifications().isEmpty)
        for _ in 1...2 { try await notifyOfMissedCheckIns(at: Date(timeIntervalSinceNow: 90_000), on: backend) }
        let reported = try await other.notifications.notifications()
        #expect(reported.map(\.kind) == ["missedCheckIn"])
        await backend.shutDown()
        await other.shutDown()
    }

    @Test(arguments: [
        "Sources/Switchyard/Documentation.docc/Files.md", "Sources/Switchyard/Documentation.docc/Messages.md",
        "Sources/Switchyard/Documentation.docc/DomainClients.md",
    ])
    func `Every piece of Swift in the article stands above, line for line`(page: String) throws {
        let missing = try Article(page).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
