import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite struct MovingFilesTests {
    @Test func `Files follow in every phase, with their contents and metadata, and both sides are equal`() async throws
    {
        let bed = try await LiveBed()
        let device = try await bed.device()
        let files = device.backend.files
        try await files.put(Data("first".utf8), at: "photos/a.txt", options: UploadOptions(custom: ["by": "alice"]))
        bed.start()
        for phase in [MovePhase.dualWrite, .cutOver, .shadowRead, .cutOver] {
            try await bed.reach(phase)
            try await eventually("the device is on the serving side") { device.moving.serving == phase.serving }
            try await files.put(Data("in \(phase)".utf8), at: "photos/b.txt")
            try await files.copy("photos/b.txt", to: "photos/c.txt")
            try await files.updateMetadata(of: "photos/a.txt", FileMetadataChanges(custom: ["phase": phase.rawValue]))
            try await bed.settle([device])
            for side in [bed.old, bed.new] {
                let project = try await side.project.actingAsProject().files
                #expect(try await project.data(at: "photos/b.txt") == Data("in \(phase)".utf8))
                #expect(try await project.data(at: "photos/c.txt") == Data("in \(phase)".utf8))
                #expect(try await project.metadata(of: "photos/a.txt").custom["phase"] == phase.rawValue)
            }
            try await files.delete("photos/c.txt")
            try await bed.settle([device])
            for side in [bed.old, bed.new] {
                let project = try await side.project.actingAsProject().files
                await #expect(throws: FileStorageError.self) { try await project.metadata(of: "photos/c.txt") }
            }
        }
        await bed.end([device])
    }

    @Test func `A file that has not arrived on the new side is read from the old one`() async throws {
        let bed = try await LiveBed()
        let device = try await bed.device()
        bed.start()
        try await bed.reach(.cutOver)
        try await eventually("the device uses the new side") { device.moving.serving == .new }
        await bed.stop()
        try await bed.old.project.actingAsProject().files.put(Data("late".utf8), at: "photos/late.txt")
        #expect(try await device.backend.files.data(at: "photos/late.txt") == Data("late".utf8))
        await bed.end([device])
    }
}
