public import Foundation
public import Switchyard
import SwitchyardBytes

extension FirebaseConfiguration {
    /// From a file of the Firebase console: `google-services.json`, `GoogleService-Info.plist` (also converted to JSON), the
    /// JSON of a web app's settings, or a file with the names of this type.
    ///
    /// - Parameters:
    ///   - data: The file's contents, at most a megabyte.
    ///   - app: The package name or app ID, if the file contains several apps.
    /// - Throws: `.invalidConfiguration` for any other file, for a file without a project or key, and for several apps without
    ///   a choice.
    public init(appFile data: Data, app: String? = nil) throws(InfrastructureError) {
        guard data.count <= 1 << 20 else { throw .appFile("is larger than a megabyte") }
        if data.starts(with: Data("<?xml".utf8)) || data.starts(with: Data("bplist".utf8)) {
            guard let list = try? PropertyListDecoder().decode(AppleAppFile.self, from: data) else {
                throw .appFile("is a property list without the settings of an app")
            }
            self = try list.configuration()
            return
        }
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: data)
        } catch {
            throw .appFile("is neither JSON nor a property list")
        }
        if json["project_info"] != nil {
            try self.init(android: json, app: app)
        } else if json["GOOGLE_APP_ID"] != nil || json["PROJECT_ID"] != nil {
            self = try AppleAppFile(json).configuration()
        } else if json["projectId"] != nil {
            self.init(
                project: try FirebaseConfiguration.required(json["projectId"]?.string, "project"),
                apiKey: Secret(try FirebaseConfiguration.required(json["apiKey"]?.string, "API key")),
                appID: json["appId"]?.string, senderID: json["messagingSenderId"]?.string,
                bucket: json["storageBucket"]?.string)
        } else {
            do {
                self = try JSONDecoder().decode(FirebaseConfiguration.self, from: data)
            } catch {
                throw .appFile("has an unknown format; use a file that the Firebase console offers")
            }
        }
    }

    /// - Throws: `.localStore` if the file cannot be read; otherwise as ``init(appFile:app:)``.
    public init(contentsOf file: URL, app: String? = nil) throws(InfrastructureError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw InfrastructureError(
                .localStore, "The app file “\(file.path)” cannot be read.", underlying: error)
        }
        try self.init(appFile: data, app: app)
    }

    private init(android json: JSON, app: String?) throws(InfrastructureError) {
        let clients = (json["client"]?.array ?? []).filter { client in
            guard let app else { return true }
            let info = client["client_info"]
            return info?["android_client_info"]?["package_name"]?.string == app
                || info?["mobilesdk_app_id"]?.string == app
        }
        guard let client = clients.first else { throw .appFile("has no app with that name") }
        guard clients.count == 1 else { throw .appFile("has several apps; pass the package name or app ID as “app”") }
        let project = json["project_info"]
        self.init(
            project: try FirebaseConfiguration.required(project?["project_id"]?.string, "project"),
            apiKey: Secret(
                try FirebaseConfiguration.required(client["api_key"]?[0]?["current_key"]?.string, "API key")),
            appID: client["client_info"]?["mobilesdk_app_id"]?.string,
            senderID: project?["project_number"]?.string, bucket: project?["storage_bucket"]?.string)
    }

    fileprivate static func required(_ text: String?, _ what: String) throws(InfrastructureError) -> String {
        guard let text, !text.isEmpty else { throw .appFile("has no \(what)") }
        return text
    }
}

/// `GoogleService-Info`, as a property list or converted to JSON.
private struct AppleAppFile: Decodable {
    let project: String?
    let apiKey: String?
    let appID: String?
    let senderID: String?
    let bucket: String?
    let bundleID: String?

    private enum CodingKeys: String, CodingKey {
        case project = "PROJECT_ID"
        case apiKey = "API_KEY"
        case appID = "GOOGLE_APP_ID"
        case senderID = "GCM_SENDER_ID"
        case bucket = "STORAGE_BUCKET"
        case bundleID = "BUNDLE_ID"
    }

    init(_ json: JSON) {
        func text(_ key: CodingKeys) -> String? { json[key.rawValue]?.string }
        project = text(.project)
        apiKey = text(.apiKey)
        appID = text(.appID)
        senderID = text(.senderID)
        bucket = text(.bucket)
        bundleID = text(.bundleID)
    }

    func configuration() throws(InfrastructureError) -> FirebaseConfiguration {
        FirebaseConfiguration(
            project: try FirebaseConfiguration.required(project, "project"),
            apiKey: Secret(try FirebaseConfiguration.required(apiKey, "API key")), appID: appID, senderID: senderID,
            bundleID: bundleID, bucket: bucket)
    }
}

extension InfrastructureError {
    fileprivate static func appFile(_ problem: String) -> InfrastructureError {
        InfrastructureError(.invalidConfiguration, "The Firebase app file \(problem).")
    }
}
