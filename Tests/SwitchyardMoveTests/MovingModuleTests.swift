import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite struct MovingModuleTests {
    private let json = """
        {"default":"mock","clients":{"storage":"moving","files":"moving"},
         "providers":{"moving":{"from":"mock","to":"firebase","name":"2026"},
                      "firebase":{"project":"demo-p","apiKey":"any","bucket":"files",
                                  "emulators":{"firestore":"127.0.0.1:9","auth":"127.0.0.1:9","storage":"127.0.0.1:9"}}}}
        """

    @Test func `A configuration names both providers, and each has its own settings`() async throws {
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        let factory = InfrastructureFactory(configurable: [MockModule.self, FirebaseModule.self, MovingModule.self])
        let backend = try await factory.make(configuration)
        #expect(backend.storage.unwrapped(as: MovingStorageClient.self)?.phase == .idle)
        #expect(backend.files.unwrapped(as: MovingFileStorageClient.self) != nil)
        try await backend.storage.setDocument("items/a", ["n": 1])
        #expect(try await backend.storage.document("items/a").exists)
        await backend.shutDown()
    }

    @Test func `New settings of one of the two make new clients`() async throws {
        var configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        let factory = InfrastructureFactory(configurable: [MockModule.self, FirebaseModule.self, MovingModule.self])
        let backend = try await factory.make(configuration)
        let first = try #require(backend.storage.unwrapped(as: MovingStorageClient.self))
        try await backend.use(configuration)
        #expect(backend.storage.unwrapped(as: MovingStorageClient.self) === first)
        var settings = try #require(try configuration.settings(of: FirebaseModule.self))
        settings.apiKey = "another"
        try configuration.setUp(FirebaseModule.self, with: settings)
        try await backend.use(configuration)
        #expect(backend.storage.unwrapped(as: MovingStorageClient.self) !== first)
        await backend.shutDown()
    }

    @Test func `A provider that the factory does not have is named`() async throws {
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        let factory = InfrastructureFactory(configurable: [MockModule.self, MovingModule.self])
        do {
            _ = try await factory.make(configuration)
            Issue.record("It was made.")
        } catch {
            #expect(error.message.includes("firebase"))
        }
    }

    @Test func `Files alone cannot move`() async throws {
        let factory = InfrastructureFactory(MockModule(), MovingModule(from: MockModule(), to: MockModule()))
        var selection = InfrastructureSelection(default: .mock)
        selection.files = .moving
        do {
            _ = try await factory.make(selection)
            Issue.record("It was made.")
        } catch {
            #expect(error.message.includes("storage"))
        }
    }

    @Test func `A server's clients take part, for callers and for the project`() async throws {
        let bed = try await LiveBed()
        let server = try await bed.device()
        let project = try await server.backend.actingAsProject()
        try await project.storage.setDocument("items/before", ["n": 1])
        bed.start()
        try await bed.reach(.cutOver)
        try await eventually("the server uses the new side") {
            project.storage.unwrapped(as: MovingStorageClient.self)?.serving == .new
        }
        try await project.storage.setDocument("items/after", ["n": 2])
        try await project.storage.transaction { transaction in
            try await transaction.set("items/transaction", ["n": 3])
        }
        try await bed.settle()
        #expect(try await bed.new.documents(["items"]).count == 3)
        #expect(try await bed.old.documents(["items"]) == bed.new.documents(["items"]))
        await bed.end([server])
    }
}
