import Foundation
import Switchyard
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseAppClientTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("firebase-\(UUID().uuidString)")
    private let configuration = FirebaseConfiguration(project: "demo", apiKey: "k")

    @Test func `The switch for analytics outlasts the process`() throws {
        let first = try FirebaseAppClient.configure(configuration, stateFolder: folder)
        #expect(first.isAnalyticsEnabled)
        try first.setAnalyticsEnabled(false)
        let second = try FirebaseAppClient.configure(configuration, stateFolder: folder)
        #expect(!second.isAnalyticsEnabled)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `A damaged switch is not taken for consent`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: folder.appendingPathComponent("firebase-analytics.json"))
        let error = #expect(throws: InfrastructureError.self) {
            try FirebaseAppClient.configure(configuration, stateFolder: folder)
        }
        #expect(error?.code == .localStore)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `An app is set up from a file of the console`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("google-services.json")
        try Data(FirebaseConfigurationTests.android.utf8).write(to: file)
        let app = try FirebaseAppClient.configure(contentsOf: file, app: "com.a")
        #expect(app.configuration.appID == "1:123:android:a")
        #expect(app.module.configuration == app.configuration)
        try FileManager.default.removeItem(at: folder)
        #expect(throws: InfrastructureError.self) { try FirebaseAppClient.configure(contentsOf: file) }
    }
}
