import Foundation
import SwitchyardBytes

/// How the files that clients keep on a device are protected, and shared between the processes of one app.
///
/// ```json
/// { "default": "acme", "localFiles": { "appGroup": "group.com.acme.app", "process": "widget" } }
/// ```
/// An app and its extension, or two programs on a server, share a folder if each has a ``process``: they share the session, and
/// what one has written to the server reaches the open streams of the others. Each has a cache and unsent writes of its own.
public struct LocalFileOptions: Sendable, Hashable {
    /// When the files of an app can be read, on iOS, tvOS, watchOS and visionOS.
    public enum Protection: String, Sendable, Hashable, Codable, CaseIterable {
        /// From the first unlock after a start of the device on, so that background work can go on. The default.
        case afterFirstUnlock
        /// While the device is unlocked, and while a file is open.
        case whileUnlockedOrOpen
        /// While the device is unlocked. Clients that are in use when it is locked fail with `.localStore`.
        case whileUnlocked
        case none
    }

    /// The name of this process among those that use the folder: `main` for the app itself, any other of letters, digits, `-` and
    /// `_` for the rest. With `nil`, one process at a time uses the folder.
    public var process: String?
    /// The app group whose container holds the state folder, on Apple platforms. Without ``process`` it only says where.
    public var appGroup: String?
    /// The keychain group that holds the session, for an app whose processes share a session but no folder. With an
    /// ``appGroup``, the session is a file in its container instead: the keychain does not tell one process what another did.
    public var keychainAccessGroup: String?
    public var protection: Protection
    /// Whether backups of the device include the files, caches and unsent writes alike.
    public var isBackedUp: Bool

    public init(
        process: String? = nil, appGroup: String? = nil, keychainAccessGroup: String? = nil,
        protection: Protection = .afterFirstUnlock, isBackedUp: Bool = false
    ) {
        self.process = process
        self.appGroup = appGroup
        self.keychainAccessGroup = keychainAccessGroup
        self.protection = protection
        self.isBackedUp = isBackedUp
    }

    /// The process that has the plain folders, as a process that shares with no one does.
    static let mainProcess = "main"

    /// Files of this process alone get names that end with this.
    ///
    /// - Throws: `.invalidConfiguration` for a name that cannot be part of a folder's.
    func suffix() throws(InfrastructureError) -> String {
        guard let process, process != Self.mainProcess else { return "" }
        guard Self.isName(process) else {
            throw InfrastructureError(
                .invalidConfiguration,
                "The process “\(process)” in localFiles cannot name a folder: use up to 64 letters, digits, “-” and “_”."
            )
        }
        return "@\(process)"
    }

    private static func isName(_ process: String) -> Bool {
        (1...64).contains(process.utf8.count) && process.utf8.allSatisfy(isNamePart)
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The state folder, where ``appGroup`` decides it.
    ///
    /// - Parameter chosen: The folder that is named otherwise, which must then be missing.
    func stateFolder(or chosen: URL?) throws(InfrastructureError) -> URL? {
        guard let appGroup else { return chosen }
        guard chosen == nil else {
            throw InfrastructureError(
                .invalidConfiguration,
                "There are two places for local files: the app group “\(appGroup)” and stateFolder. Name one of them.")
        }
        #if canImport(Darwin)
            let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroup)
            guard let container else {
                throw InfrastructureError(
                    .invalidConfiguration,
                    "The app group “\(appGroup)” has no container for this process: add it to the entitlements of this target."
                )
            }
            return container.appendingPathComponent("Library/Application Support/Switchyard", isDirectory: true)
        #else
            throw InfrastructureError(
                .invalidConfiguration,
                "The app group “\(appGroup)” cannot be used: app groups exist on Apple platforms only. Name a stateFolder."
            )
        #endif
    }

    /// Gives a folder, and what is in it, the chosen protection. What is created in it later inherits that.
    func protect(_ folder: URL) {
        #if canImport(Darwin)
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = !isBackedUp
            // Like everything of protection: where the file system has none, the files are as usable as before.
            try? folder.setResourceValues(values)
            #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path)
                let present = (attributes?[.protectionKey] as? FileProtectionType)?.rawValue
                // What is in it has the same protection already.
                guard present != protection.attribute.rawValue else { return }
                let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
                for file in [folder] + (files?.compactMap { $0 as? URL } ?? []) {
                    try? FileManager.default.setAttributes(
                        [.protectionKey: protection.attribute], ofItemAtPath: file.path)
                }
            #endif
        #endif
    }
}

#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    extension LocalFileOptions.Protection {
        fileprivate var attribute: FileProtectionType {
            switch self {
            case .afterFirstUnlock: .completeUntilFirstUserAuthentication
            case .whileUnlockedOrOpen: .completeUnlessOpen
            case .whileUnlocked: .complete
            case .none: .none
            }
        }
    }
#endif

extension LocalFileOptions: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case process, appGroup, keychainAccessGroup, protection, isBackedUp
    }

    /// Missing values are those of ``init(process:appGroup:keychainAccessGroup:protection:isBackedUp:)``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        process = try values.decodeIfPresent(String.self, forKey: .process)
        guard process.map(Self.isName) != false else {
            throw DecodingError.dataCorruptedError(
                forKey: .process, in: values, debugDescription: "a name of up to 64 letters, digits, “-” and “_”")
        }
        appGroup = try values.decodeIfPresent(String.self, forKey: .appGroup)
        keychainAccessGroup = try values.decodeIfPresent(String.self, forKey: .keychainAccessGroup)
        if let name = try values.decodeIfPresent(String.self, forKey: .protection) {
            guard let known = Protection(rawValue: name) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .protection, in: values,
                    debugDescription: "one of \(Protection.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            protection = known
        }
        isBackedUp = try values.decodeIfPresent(Bool.self, forKey: .isBackedUp) ?? isBackedUp
    }

    public func encode(to encoder: any Encoder) throws { try shape.encode(to: encoder) }

    static let keys = CodingKeys.allCases.map(\.rawValue)

    var shape: JSON {
        var shape: JSONObject = ["protection": .string(protection.rawValue), "isBackedUp": .bool(isBackedUp)]
        if let process { shape["process"] = .string(process) }
        if let appGroup { shape["appGroup"] = .string(appGroup) }
        if let keychainAccessGroup { shape["keychainAccessGroup"] = .string(keychainAccessGroup) }
        return .object(shape)
    }
}
