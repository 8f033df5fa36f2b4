import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The file storage adapter against the local Supabase, with a real PostgreSQL deciding who may do what.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseFileConformanceTests {
    static let run = ConformanceRun("supabase files, local", FileConformance.all, for: SupabaseFilesSite.features) {
        try await SupabaseFilesSite.shared.value
    }

    @Test(.beside(run), arguments: run.checks)
    func `Supabase's file storage`(_ check: FileCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `The adapter declares what the checks are chosen by`() async throws {
        let client = try await SupabaseFilesSite.shared.value.client()
        #expect(client.capabilities == SupabaseFilesSite.features.capabilities)
        await client.shutDown()
    }

    @Test func `Checks that Supabase skips`() {
        #expect(
            FileConformance.leftOut(for: SupabaseFilesSite.features) == [
                "bytes of unknown number are uploaded as they come", "a file above the bound is refused",
                "an address without an end leads to the file", "an address leads nowhere once the file is gone",
            ])
    }

    @Test(.beside(largeRun))
    func `Many megabytes go up and down, on after a restart of the app`() async throws {
        try await Self.largeRun.value
    }

    private static let largeRun: SideRun<Int, Void> = SideRun { try await SupabaseFileConformanceTests().large() }

    private func large() async throws {
        let site = try await SupabaseFilesSite.shared.value
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("large-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("source")
        let size = RunSize.full(110, part: 30) << 20
        var contents = Data(count: size)
        contents.withUnsafeMutableBytes { buffer in
            for index in 0..<size / 8 {
                buffer.storeBytes(
                    of: UInt64(index) &* 0x9E37_79B9_7F4A_7C15, toByteOffset: index * 8, as: UInt64.self)
            }
        }
        try contents.write(to: source)
        let path = try FilePath(validating: "large/\(UUID().uuidString)")

        let first = try site.client()
        try await site.cutOff(first, afterBytes: Int64(size / 2))
        let transfer = try await first.upload(.file(source), to: path)
        for await progress in transfer.progress where progress.completedBytes >= size / 5 * 2 { break }
        await first.shutDown()
        _ = try? await transfer.result()

        let second = try #require(try await site.reopen(first).unwrapped(as: SupabaseFileStorageAdapter.self))
        let interrupted = try #require(try await second.interruptedUploads().first)
        let stored = try await second.resumeUpload(interrupted.id).result()
        #expect(stored.size == Int64(size))

        let target = folder.appendingPathComponent("target")
        _ = try await second.download(path, to: target).result()
        #expect(try Data(contentsOf: target) == contents)
        await second.shutDown()
    }
}
