// swift-tools-version: 6.2
import PackageDescription

/// Where requests go through Foundation.
let apple: [Platform] = [.macOS, .iOS, .tvOS, .watchOS, .visionOS]

/// Which module may see which: the only place where that is written down. `.ci/imports` checks the sources against it.
let package = Package(
    name: "Switchyard",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Switchyard", targets: ["Switchyard"]),
        .library(name: "SwitchyardMock", targets: ["SwitchyardMock"]),
        .library(name: "SwitchyardFirebase", targets: ["SwitchyardFirebase"]),
        .library(name: "SwitchyardSupabase", targets: ["SwitchyardSupabase"]),
        .library(name: "SwitchyardSync", targets: ["SwitchyardSync"]),
        .library(name: "SwitchyardConformance", targets: ["SwitchyardConformance"]),
        .library(name: "SwitchyardDependencies", targets: ["SwitchyardDependencies"]),
        .executable(name: "switchyard", targets: ["SwitchyardCLI"]),
        .executable(name: "switchyard-bench", targets: ["SwitchyardBench"]),
    ],
    targets: [
        // The portable API and the pure pieces below it.
        .target(name: "CChecksum"),
        .target(name: "SwitchyardBytes", dependencies: ["CChecksum"]),
        .target(name: "Switchyard", dependencies: ["SwitchyardBytes"]),

        // System libraries, opened at first use; no header and no link needed for building.
        .target(name: "CCurl"),
        .target(name: "CSQLite"),

        // Bytes on the wire, and the offline engine.
        .target(
            name: "SwitchyardWire",
            dependencies: ["SwitchyardBytes", .target(name: "CCurl", condition: .when(platforms: [.linux]))]),
        .target(name: "SwitchyardURLSession", dependencies: ["SwitchyardWire"]),
        .target(name: "SwitchyardSync", dependencies: ["Switchyard", "SwitchyardBytes", "CSQLite"]),

        // Providers.
        .target(
            name: "SwitchyardMock", dependencies: ["Switchyard", "SwitchyardBytes"], path: "Plugins/SwitchyardMock"),
        .target(
            name: "SwitchyardMockHarness", dependencies: ["Switchyard", "SwitchyardMock", "SwitchyardConformance"],
            path: "Plugins/SwitchyardMockHarness"),
        .target(
            name: "FirestoreFormat", dependencies: ["Switchyard", "SwitchyardBytes"], path: "Plugins/FirestoreFormat"),
        .target(
            name: "ProviderWire",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire",
                .target(name: "SwitchyardURLSession", condition: .when(platforms: apple)),
            ],
            path: "Plugins/ProviderWire"),
        .target(
            name: "SwitchyardFirebase",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardSync", "FirestoreFormat", "ProviderWire",
            ],
            path: "Plugins/SwitchyardFirebase"),
        .target(
            name: "SwitchyardSupabase",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardSync", "ProviderWire"],
            path: "Plugins/SwitchyardSupabase",
            resources: [
                "values", "tables", "queries", "writing", "reading", "changes", "rows", "messaging", "grants",
            ].map {
                .embedInCode("SQL/\($0).sql")
            }),

        // What stands beside the clients.
        .target(name: "SwitchyardConformance", dependencies: ["Switchyard", "SwitchyardBytes"]),
        .target(name: "SwitchyardDependencies", dependencies: ["Switchyard", "SwitchyardMock"]),
        .target(
            name: "SwitchyardEmulator",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardWire", "FirestoreFormat"],
            resources: ["roles", "auth", "storage", "realtime"].map { .embedInCode("Supabase/SQL/\($0).sql") }),
        .executableTarget(
            name: "SwitchyardCLI",
            dependencies: [
                "Switchyard", "SwitchyardMock", "SwitchyardFirebase", "SwitchyardSupabase", "SwitchyardMockHarness",
                "SwitchyardConformance", "SwitchyardEmulator", "LifeSignalStory",
            ]),
        .executableTarget(
            name: "SwitchyardBench",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardURLSession", "SwitchyardSync",
                "SwitchyardMock", "SwitchyardFirebase", "SwitchyardSupabase", "SwitchyardEmulator",
                "SwitchyardTestSupport", .target(name: "CCurl", condition: .when(platforms: [.linux])),
            ]),

        // Examples: built with everything else, so they never rot.
        .executableTarget(
            name: "QuickStart", dependencies: ["Switchyard", "SwitchyardMock"], path: "Examples/QuickStart"),
        .target(name: "LifeSignalStory", dependencies: ["Switchyard"], path: "Examples/LifeSignal/Story"),
        .executableTarget(
            name: "LifeSignal", dependencies: ["Switchyard", "SwitchyardMock", "LifeSignalStory"],
            path: "Examples/LifeSignal/Program"),
        .executableTarget(
            name: "MixedBackends", dependencies: ["Switchyard", "SwitchyardMock"], path: "Examples/MixedBackends"),
        .executableTarget(
            name: "CustomProvider", dependencies: ["Switchyard", "SwitchyardConformance"],
            path: "Examples/CustomProvider"),

        // Tests.
        .target(
            name: "SwitchyardTestSupport", dependencies: ["Switchyard", "SwitchyardWire", "SwitchyardEmulator"],
            path: "Tests/SwitchyardTestSupport"),
        // Long runs that are done beside other tests.
        .target(
            name: "SwitchyardTestRuns", dependencies: ["SwitchyardConformance"], path: "Tests/SwitchyardTestRuns"),
        .testTarget(
            name: "SwitchyardTests",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardMock", "SwitchyardTestSupport"]),
        .testTarget(name: "SwitchyardBytesTests", dependencies: ["SwitchyardBytes", "SwitchyardTestSupport"]),
        // A program of one request, for tests that need another process, and for `.ci/size`.
        .executableTarget(name: "OneRequest", dependencies: ["SwitchyardWire"], path: "Tests/OneRequest"),
        .testTarget(
            name: "SwitchyardWireTests",
            dependencies: [
                "SwitchyardBytes", "SwitchyardWire", "SwitchyardEmulator", "SwitchyardTestSupport", "OneRequest",
            ]),
        .testTarget(
            name: "SwitchyardURLSessionTests",
            dependencies: [
                "SwitchyardBytes", "SwitchyardWire", "SwitchyardURLSession", "SwitchyardEmulator",
                "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardSyncTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardSync", "SwitchyardConformance", "SwitchyardTestRuns",
                "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardMockTests",
            dependencies: [
                "Switchyard", "SwitchyardMock", "SwitchyardMockHarness", "SwitchyardConformance",
                "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardCLITests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardMock", "SwitchyardWire", "SwitchyardConformance",
                "SwitchyardEmulator", "SwitchyardCLI", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardDependenciesTests",
            dependencies: ["Switchyard", "SwitchyardMock", "SwitchyardDependencies", "SwitchyardTestSupport"]),
        .testTarget(
            name: "FirestoreFormatTests",
            dependencies: ["Switchyard", "SwitchyardBytes", "FirestoreFormat", "SwitchyardTestSupport"]),
        .testTarget(
            name: "FirestoreSpecTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardSync", "FirestoreFormat", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardFirebaseTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardSync", "FirestoreFormat",
                "SwitchyardFirebase", "SwitchyardMock", "SwitchyardConformance", "SwitchyardEmulator",
                "SwitchyardTestRuns", "SwitchyardTestSupport",
            ], exclude: ["Fixtures"]),
        .testTarget(
            name: "SwitchyardSupabaseTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardSync", "ProviderWire",
                "SwitchyardSupabase", "SwitchyardMock", "SwitchyardFirebase", "SwitchyardConformance",
                "SwitchyardEmulator", "SwitchyardTestRuns", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardEmulatorTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardEmulator", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardIntegrationTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardSync", "SwitchyardMock",
                "SwitchyardFirebase", "SwitchyardSupabase", "SwitchyardConformance", "SwitchyardEmulator",
                "SwitchyardCLI", "SwitchyardTestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)

/// `SWITCHYARD_FUZZ=1` adds the entry for libFuzzer, which has no `main`; see `Tests/SwitchyardFuzz`.
if Context.environment["SWITCHYARD_FUZZ"] == "1" {
    package.targets.append(
        .executableTarget(
            name: "SwitchyardFuzz", dependencies: ["SwitchyardBytes", "SwitchyardWire"], path: "Tests/SwitchyardFuzz"))
}

/// `SWITCHYARD_STRICT=1` makes every warning an error, in the same single build that the tests use.
let isStrict = Context.environment["SWITCHYARD_STRICT"] == "1"

for target in package.targets where !target.name.hasPrefix("C") || target.name == "CustomProvider" {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),  // SE-0335
            .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
            .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        ]
    if isStrict { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
