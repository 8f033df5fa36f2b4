import Foundation
import SwitchyardTestSupport
import Testing

/// The privacy manifests of the targets that apps link, against what their sources call.
@Suite struct PrivacyManifestTests {
    /// Every target that an app can link.
    private static let targets = [
        "Sources/Switchyard", "Sources/SwitchyardBytes", "Sources/SwitchyardWire", "Sources/SwitchyardURLSession",
        "Sources/SwitchyardSync", "Sources/SwitchyardProviderKit", "Sources/SwitchyardProviderHTTP",
        "Sources/SwitchyardObservation", "Plugins/SwitchyardMock", "Plugins/SwitchyardFirestoreFormat",
        "Plugins/SwitchyardFirebase", "Plugins/SwitchyardSupabase",
    ]

    /// What Apple wants a reason for, by category.
    private static let calls: [String: [String]] = [
        "FileTimestamp": [
            " stat(", " fstat(", " lstat(", "fstatat(", "getattrlist", "creationDate", "odificationDate",
        ],
        "SystemBootTime": ["systemUptime", "mach_absolute_time", "mach_continuous_time"],
        "DiskSpace": ["statfs", "statvfs", "volumeAvailableCapacity", "systemFreeSize", "systemSize"],
        "UserDefaults": ["UserDefaults"],
        "ActiveKeyboards": ["activeInputModes"],
    ]

    @Test(arguments: targets)
    func `A target declares what it calls, and nothing else`(_ target: String) throws {
        let folder = Article.root.appendingPathComponent(target)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var called: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for (category, names) in Self.calls where names.contains(where: text.contains) { called.insert(category) }
        }
        let manifest = folder.appendingPathComponent("PrivacyInfo.xcprivacy")
        let declared = FileManager.default.fileExists(atPath: manifest.path) ? try Self.categories(manifest) : []
        #expect(declared == called, "\(target) declares \(declared.sorted()), and calls \(called.sorted())")
    }

    @Test func `The manifest of the package leaves out what is no source elsewhere`() throws {
        let package = try String(contentsOf: Article.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        for target in Self.targets {
            let manifest = Article.root.appendingPathComponent(target + "/PrivacyInfo.xcprivacy")
            guard FileManager.default.fileExists(atPath: manifest.path) else { continue }
            let name = manifest.deletingLastPathComponent().lastPathComponent
            let line = try #require(
                package.split(separator: "\n").first { $0.contains("let readsFiles = [") })
            #expect(line.contains("\"\(name)\""))
        }
    }

    /// The categories of a manifest; each must have a reason.
    private static func categories(_ manifest: URL) throws -> Set<String> {
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: manifest), format: nil)
        let types = try #require((list as? [String: Any])?["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        return Set(
            try types.map { type in
                let reasons = try #require(type["NSPrivacyAccessedAPITypeReasons"] as? [String])
                #expect(!reasons.isEmpty)
                let name = try #require(type["NSPrivacyAccessedAPIType"] as? String)
                return String(name.dropFirst("NSPrivacyAccessedAPICategory".count))
            })
    }
}
