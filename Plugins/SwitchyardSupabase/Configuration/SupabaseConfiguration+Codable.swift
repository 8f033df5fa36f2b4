import Foundation
import Switchyard
import SwitchyardProviderKit

extension SupabaseConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, key, serviceKey, jwtSecret, bucket, isBucketPublic, buckets, tables, usesDocumentTable, checkSeconds,
            realtime, keepsDocuments, cacheBytes, patienceSeconds, allowsPlainHTTPTo
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            url: try values.decode(String.self, forKey: .url), key: try values.decode(Secret.self, forKey: .key))
        serviceKey = try values.decodeIfPresent(Secret.self, forKey: .serviceKey)
        jwtSecret = try values.decodeIfPresent(Secret.self, forKey: .jwtSecret)
        bucket = try values.decodeIfPresent(String.self, forKey: .bucket)
        isBucketPublic = try values.decodeIfPresent(Bool.self, forKey: .isBucketPublic) ?? isBucketPublic
        buckets = try values.decodeIfPresent([SupabaseBucket].self, forKey: .buckets) ?? buckets
        tables = try values.decodeIfPresent([SupabaseTableMapping].self, forKey: .tables) ?? tables
        usesDocumentTable =
            try values.decodeIfPresent(Bool.self, forKey: .usesDocumentTable) ?? usesDocumentTable
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .checkSeconds) {
            checkInterval = try .settings(seconds: seconds, in: 0.01...86_400, forKey: .checkSeconds, of: values)
        }
        realtime = try values.decodeIfPresent(SupabaseRealtime.self, forKey: .realtime) ?? realtime
        keepsDocuments = try values.decodeIfPresent(Bool.self, forKey: .keepsDocuments) ?? keepsDocuments
        cacheBytes = try values.decodeIfPresent(Int64.self, forKey: .cacheBytes) ?? cacheBytes
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .patienceSeconds) {
            patience = try .settings(seconds: seconds, in: 0...86_400, forKey: .patienceSeconds, of: values)
        }
        allowsPlainHTTPTo = try values.decodeIfPresent(String.self, forKey: .allowsPlainHTTPTo)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(url, forKey: .url)
        try values.encode(key, forKey: .key)
        try values.encodeIfPresent(serviceKey, forKey: .serviceKey)
        try values.encodeIfPresent(jwtSecret, forKey: .jwtSecret)
        try values.encodeIfPresent(bucket, forKey: .bucket)
        try values.encode(isBucketPublic, forKey: .isBucketPublic)
        if !buckets.isEmpty { try values.encode(buckets, forKey: .buckets) }
        if !tables.isEmpty { try values.encode(tables, forKey: .tables) }
        try values.encode(usesDocumentTable, forKey: .usesDocumentTable)
        try values.encode(checkInterval / .milliseconds(1) / 1000, forKey: .checkSeconds)
        if realtime != SupabaseRealtime() { try values.encode(realtime, forKey: .realtime) }
        try values.encode(keepsDocuments, forKey: .keepsDocuments)
        try values.encode(cacheBytes, forKey: .cacheBytes)
        try values.encodeIfPresent(patience.map { $0 / .milliseconds(1) / 1000 }, forKey: .patienceSeconds)
        try values.encodeIfPresent(allowsPlainHTTPTo, forKey: .allowsPlainHTTPTo)
    }
}
