import Foundation
import Switchyard
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// A server process that is killed under fifty live queries and a load of writes, and started again from its folder.
@Suite struct ServerDeathTests {
    @Test(.beside(deathsRun), .timeLimit(.minutes(2)))
    func `Fifty live queries heal when the server is killed and started again under a load of writes`() async throws {
        try await Self.deathsRun.value
    }

    private static let deathsRun: SideRun<Int, Void> = SideRun { try await ServerDeathTests().deaths() }

    private func deaths() async throws {
        let server = try FirebaseProcess()
        try await server.start()
        let (reader, writer) = (try await server.client(), try await server.client())
        try await FiftyRooms(reader: reader, writer: writer).check(3) {
            try await server.kill()
            try await server.start()
        }
        await reader.shutDown()
        await writer.shutDown()
        try await server.kill()
    }

    @Test func `What a killed server had answered is there when it comes back`() async throws {
        let server = try FirebaseProcess()
        try await server.start()
        let client = try await server.client()
        for number in 0..<20 {
            try await client.setDocument(
                StoragePath(validating: "kept/d\(number)"), ["number": .of(number)]
            ).acknowledged()
        }
        try await server.kill()
        try await server.start()
        let kept = try await client.documents(Query(in: "kept").ordered(by: "number"), from: .server)
        #expect(kept.documents.map { $0["number"] } == (0..<20).map { .integer($0) })
        await client.shutDown()
        try await server.kill()
    }
}
