import Foundation
import Switchyard
import SwitchyardProviderKit

extension FirebaseConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case project, apiKey, credential, serviceAccount, appID, senderID, bundleID, bucket, database, writeLedger
        case locksInTransactions, keepsDocuments, cacheBytes, patienceSeconds, hosts, emulators, usesEmulatorVariables,
            allowsPlainHTTPTo
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let credential = try values.decodeIfPresent(FirebaseCredential.self, forKey: .credential)
        self.init(
            // A credential may name the project.
            project: credential == nil
                ? try values.decode(String.self, forKey: .project)
                : try values.decodeIfPresent(String.self, forKey: .project) ?? "",
            // Signing in needs a key; acting for the project does not.
            apiKey: credential == nil
                ? try values.decode(Secret.self, forKey: .apiKey)
                : try values.decodeIfPresent(Secret.self, forKey: .apiKey) ?? "",
            credential: credential)
        serviceAccount = try values.decodeIfPresent(String.self, forKey: .serviceAccount)
        appID = try values.decodeIfPresent(String.self, forKey: .appID)
        senderID = try values.decodeIfPresent(String.self, forKey: .senderID)
        bundleID = try values.decodeIfPresent(String.self, forKey: .bundleID)
        bucket = try values.decodeIfPresent(String.self, forKey: .bucket)
        database = try values.decodeIfPresent(String.self, forKey: .database) ?? database
        if let ledger = try values.decodeIfPresent(String.self, forKey: .writeLedger) {
            do throws(StorageError) {
                writeLedger = try CollectionPath(validating: ledger)
            } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: .writeLedger, in: values, debugDescription: error.message)
            }
        }
        locksInTransactions =
            try values.decodeIfPresent(Bool.self, forKey: .locksInTransactions) ?? locksInTransactions
        keepsDocuments = try values.decodeIfPresent(Bool.self, forKey: .keepsDocuments) ?? keepsDocuments
        cacheBytes = try values.decodeIfPresent(Int64.self, forKey: .cacheBytes) ?? cacheBytes
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .patienceSeconds) {
            patience = try .settings(seconds: seconds, in: 0...86_400, forKey: .patienceSeconds, of: values)
        }
        hosts = try values.decodeIfPresent(Hosts.self, forKey: .hosts) ?? hosts
        emulators = try values.decodeIfPresent(Emulators.self, forKey: .emulators) ?? emulators
        usesEmulatorVariables =
            try values.decodeIfPresent(Bool.self, forKey: .usesEmulatorVariables) ?? usesEmulatorVariables
        allowsPlainHTTPTo = try values.decodeIfPresent(String.self, forKey: .allowsPlainHTTPTo)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if !project.isEmpty || credential == nil { try values.encode(project, forKey: .project) }
        try values.encode(apiKey, forKey: .apiKey)
        try values.encodeIfPresent(credential, forKey: .credential)
        try values.encodeIfPresent(serviceAccount, forKey: .serviceAccount)
        try values.encodeIfPresent(appID, forKey: .appID)
        try values.encodeIfPresent(senderID, forKey: .senderID)
        try values.encodeIfPresent(bundleID, forKey: .bundleID)
        try values.encodeIfPresent(bucket, forKey: .bucket)
        try values.encode(database, forKey: .database)
        try values.encodeIfPresent(writeLedger?.rawValue, forKey: .writeLedger)
        try values.encode(locksInTransactions, forKey: .locksInTransactions)
        try values.encode(keepsDocuments, forKey: .keepsDocuments)
        try values.encode(cacheBytes, forKey: .cacheBytes)
        try values.encodeIfPresent(patience.map { $0 / .milliseconds(1) / 1000 }, forKey: .patienceSeconds)
        try values.encode(hosts, forKey: .hosts)
        try values.encode(emulators, forKey: .emulators)
        try values.encode(usesEmulatorVariables, forKey: .usesEmulatorVariables)
        try values.encodeIfPresent(allowsPlainHTTPTo, forKey: .allowsPlainHTTPTo)
    }
}
