//! Which adapter is taken, and what is said where there is none.

use super::software_info;
use crate::adapter::choose_index;
use crate::test_support::{gpu, required, take};
use crate::{
    AdapterError, AdapterInfo, AdapterKind, Adapters, Gpu, GpuError, GpuOptions, Preference,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn some() -> [AdapterInfo; 3] {
    let with = |name: &str, kind| AdapterInfo {
        kind,
        ..software_info(name)
    };
    [
        with("llvmpipe (LLVM 15)", AdapterKind::Software),
        with("Intel UHD", AdapterKind::Integrated),
        with("NVIDIA H200", AdapterKind::Discrete),
    ]
}

fn chosen(preference: &Preference) -> Result<String, AdapterError> {
    let some = some();
    let infos: Vec<&AdapterInfo> = some.iter().collect();
    choose_index(&infos, preference).map(|i| some[i].name.clone())
}

#[test]
fn any_takes_the_fastest_kind() {
    assert_eq!(chosen(&Preference::Any).as_deref(), Ok("NVIDIA H200"));
}

#[test]
fn names_may_be_parts_in_either_case() {
    let named = |t: &str| chosen(&Preference::Named(t.into()));
    assert_eq!(named("uhd").as_deref(), Ok("Intel UHD"));
    assert_eq!(named("LLVM").as_deref(), Ok("llvmpipe (LLVM 15)"));
    // The interface counts, too: the first that is reached through it.
    assert_eq!(named("Vulkan").as_deref(), Ok("llvmpipe (LLVM 15)"));
}

#[test]
fn software_takes_a_software_driver() {
    assert_eq!(
        chosen(&Preference::Software).as_deref(),
        Ok("llvmpipe (LLVM 15)")
    );
}

#[test]
fn no_such_name_lists_what_there_is() {
    let message = chosen(&Preference::Named("Radeon".into())).unwrap_err();
    let message = message.to_string();
    assert_eq!(
        message,
        "no GPU adapter has 'Radeon' in its name, driver or graphics API; known: llvmpipe (LLVM 15) (software, vulkan, driver 1.0), \
         Intel UHD (integrated, vulkan, driver 1.0), NVIDIA H200 (discrete, vulkan, driver 1.0)"
    );
}

#[test]
fn without_adapters_the_message_says_what_to_install() {
    for preference in [
        Preference::Any,
        Preference::Software,
        Preference::Named("x".into()),
    ] {
        let error = choose_index(&[], &preference).unwrap_err();
        assert_eq!(error, AdapterError::None);
        let text = error.to_string();
        assert!(text.starts_with("no GPU adapter found;"), "{text}");
        assert!(text.contains("mesa-vulkan-drivers libvulkan1"), "{text}");
    }
}

#[test]
fn no_software_driver_says_what_to_install() {
    let card = AdapterInfo {
        kind: AdapterKind::Discrete,
        ..software_info("Card")
    };
    let text = choose_index(&[&card], &Preference::Software)
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with("no software GPU adapter; known: Card (discrete"),
        "{text}"
    );
    assert!(text.contains("apt install mesa-vulkan-drivers"), "{text}");
}

#[test]
fn the_variable_is_software_or_part_of_a_name() {
    assert_eq!(Preference::from_text(" "), Preference::Any);
    assert_eq!(Preference::from_text("Software"), Preference::Software);
    assert_eq!(
        Preference::from_text("h200"),
        Preference::Named("h200".into())
    );
}

#[test]
fn a_missing_adapter_skips_or_fails() {
    let none = || Err(GpuError::Adapter(AdapterError::None));
    assert!(take(none(), false).is_none());
    let failed = catch_unwind(|| take(none(), true));
    assert!(failed.is_err(), "SINEW_REQUIRE_GPU must fail the test");
    let other = Err(GpuError::NoDevice {
        adapter: "a".into(),
        message: "b".into(),
    });
    let failed = catch_unwind(AssertUnwindSafe(|| take(other, false)));
    assert!(failed.is_err(), "a broken driver is not a missing one");
}

#[test]
fn adapters_have_names_and_sane_limits() {
    let adapters = Adapters::enumerate();
    if required() {
        assert!(adapters.infos().len() > 0, "no adapter");
    }
    for info in adapters.infos() {
        let limits = &info.limits;
        assert!(!info.name.is_empty() && !info.backend.is_empty(), "{info}");
        // What WebGPU guarantees.
        assert!(limits.storage_buffers_per_stage >= 8, "{info}: {limits:?}");
        assert!(
            limits.invocations_per_workgroup >= 256,
            "{info}: {limits:?}"
        );
        assert!(limits.workgroup_memory_bytes >= 16384, "{info}: {limits:?}");
        assert!(
            limits.workgroups_per_dimension >= 65535,
            "{info}: {limits:?}"
        );
        assert!(limits.buffer_bytes >= 256 << 20, "{info}: {limits:?}");
        assert!(
            limits.storage_binding_bytes >= 128 << 20,
            "{info}: {limits:?}"
        );
        assert!(info.subgroup_min <= info.subgroup_max, "{info}");
    }
}

#[test]
fn a_device_has_all_that_its_adapter_allows() {
    let Some(gpu) = gpu() else { return };
    let adapters = Adapters::enumerate();
    let adapter = adapters.choose(&Preference::from_env()).unwrap().info();
    assert_eq!(gpu.limits(), &adapter.limits);
    assert_eq!(gpu.capabilities(), &adapter.capabilities);
    assert_eq!(gpu.info().name, adapter.name);
}

#[test]
fn a_wrong_name_is_an_error_with_names() {
    let Some(gpu) = gpu() else { return };
    let error = Gpu::new(&GpuOptions {
        adapter: Preference::Named("no such thing".into()),
        pipeline_cache: None,
    });
    let text = error.unwrap_err().to_string();
    assert!(text.contains("'no such thing'"), "{text}");
    assert!(text.contains(&gpu.info().name), "{text}");
}
