import Foundation
import Switchyard
import SwitchyardMock
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseAppClientTests {
    @Test func `An app is set up from a file of the console`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("firebase-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("google-services.json")
        try Data(FirebaseConfigurationTests.android.utf8).write(to: file)
        let app: LiveFirebaseApp = try .live(contentsOf: file, app: "com.a", stateFolder: nil)
        #expect(app.configuration.appID == "1:123:android:a")
        #expect(app.module.configuration == app.configuration)
        let backend = try await app.configure()
        #expect(backend.storage.provider == .firebase)
        await backend.shutDown()
        try FileManager.default.removeItem(at: folder)
        #expect(throws: InfrastructureError.self) { try LiveFirebaseApp.live(contentsOf: file, stateFolder: nil) }
    }

    @Test func `Settings that are wrong are refused before anything is made`() {
        let error = #expect(throws: InfrastructureError.self) {
            try LiveFirebaseApp(FirebaseConfiguration(project: "", apiKey: "k"), stateFolder: nil)
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func `A preview has the backend that it is given, and registers on it`() async throws {
        let backend = try await Infrastructure(.mock)
        let app: any FirebaseAppClient = .preview(backend)
        let made = try await app.configure()
        #expect(made === backend)
        let token = try await app.setupMessaging(
            on: backend.messaging, platformToken: PlatformPushToken(.apns, token: "ab")
        ) { .granted }
        #expect(try await backend.messaging.token() == token)
        await backend.shutDown()
    }

    @Test func `A denial registers nothing`() async throws {
        let messaging = MockMessagingClient()
        let error = await #expect(throws: MessagingError.self) {
            try await StubFirebaseApp().setupMessaging(on: messaging, platformToken: nil) { .denied }
        }
        #expect(error?.code == .permissionDenied)
        #expect(await messaging.permission == .denied)
    }

    @Test func `A test's app refuses by name`() async {
        let error = await #expect(throws: InfrastructureError.self) { try await StubFirebaseApp.test.configure() }
        #expect(error?.code == .clientNotSet)
        #expect(error?.message.contains("configure") == true)
    }
}
