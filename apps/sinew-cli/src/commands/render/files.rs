//! How the surfaces of each file look: materials on the device, and cameras.

use super::actor::drawn;
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::geom::{Appearance, Image, SceneCamera};
use sinew::gpu::Gpu;
use sinew::io::{decode_image, read_appearance};
use sinew::play::Character;
use sinew::render::Materials;
use std::sync::Arc;

/// Appearances of the files that meshes came from; the main one first.
pub(super) struct Files {
    main: Option<Appearance>,
    loaded: Vec<(Arc<Character>, Option<Materials>)>,
}

impl Files {
    /// Reads what the main file says of looks; images are not decoded yet.
    pub(super) fn new(main: &Character, reporter: &Reporter) -> Outcome<Self> {
        Ok(Self {
            main: appearance(main, reporter)?,
            loaded: Vec::new(),
        })
    }

    /// Cameras of the main file.
    pub(super) fn cameras(&self) -> &[SceneCamera] {
        self.main.as_ref().map_or(&[], |a| &a.cameras)
    }

    /// Brings the materials of a file to the device, once.
    pub(super) fn load(
        &mut self,
        gpu: &Gpu,
        character: &Arc<Character>,
        reporter: &Reporter,
    ) -> Outcome {
        if self.loaded.iter().any(|l| Arc::ptr_eq(&l.0, character)) {
            return Ok(());
        }
        // The main file is the first that is asked for.
        let appearance = match self.main.take() {
            Some(main) if self.loaded.is_empty() => Some(main),
            _ => appearance(character, reporter)?,
        };
        let materials = appearance.filter(|a| !a.materials.is_empty());
        let materials = materials
            .map(|a| materials_of(gpu, &a, character, reporter))
            .transpose()?;
        self.loaded.push((character.clone(), materials));
        Ok(())
    }

    /// Materials of a file that was loaded.
    pub(super) fn materials(&self, character: &Arc<Character>) -> Option<&Materials> {
        let found = self.loaded.iter().find(|l| Arc::ptr_eq(&l.0, character));
        found?.1.as_ref()
    }
}

fn appearance(character: &Character, reporter: &Reporter) -> Outcome<Option<Appearance>> {
    let Some(source) = &character.source else {
        return Ok(None);
    };
    let (appearance, warnings) = read_appearance(source).map_err(Failure::input)?;
    for w in &warnings {
        reporter.warning(w.code, &w.message);
    }
    Ok(Some(appearance))
}

/// Bytes of decoded images of one file, at most: a small file may name one large image many times.
const MOST_IMAGE_BYTES: usize = 2 << 30;

/// Decodes the images that some base colour shows; those that cannot be are left out with a warning.
fn materials_of(
    gpu: &Gpu,
    appearance: &Appearance,
    character: &Character,
    reporter: &Reporter,
) -> Outcome<Materials> {
    let textures = appearance
        .materials
        .iter()
        .filter_map(|m| m.base_color_texture);
    let used: Vec<usize> = textures.map(|t| t.image).collect();
    let mut bytes = 0;
    let decode = |(i, image): (usize, &Option<_>)| {
        let image = image.as_ref().filter(|_| used.contains(&i))?;
        if bytes > MOST_IMAGE_BYTES {
            let message = format!(
                "image {i} is left out: the images before it have more than {MOST_IMAGE_BYTES} bytes"
            );
            reporter.warning("image_left_out", &message);
            return None;
        }
        let decoded = decode_image(image, &character.path)
            .map_err(|e| reporter.warning("image_left_out", &e.to_string()))
            .ok()?;
        bytes += 4 * decoded.width() * decoded.height();
        Some(decoded)
    };
    let images: Vec<Option<Image>> = appearance.images.iter().enumerate().map(decode).collect();
    drawn(Materials::new(gpu, appearance, &images))
}
