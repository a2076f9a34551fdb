//! Shows letters, colour maps, scale bars and a sheet: writes them as PNG into the folder given as the argument.

use sinew_picture::{
    Background, Camera, ColorMap, Font, Image, MeshPicture, Panel, Picture, Scale, ScaleBarStyle,
    TextStyle, draw_scale_bar, draw_text, sheet,
};
use std::error::Error;
use std::path::PathBuf;

const PAPER: [u8; 4] = [250, 250, 250, 255];
const NIGHT: [u8; 4] = [24, 27, 33, 255];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    for (name, image) in [
        ("text", letters()),
        ("maps", maps()),
        ("bars", bars(PAPER)),
        ("bars_dark", bars(NIGHT)),
        ("bars_clear", bars([0; 4])),
        ("sheet", waves(PAPER)?),
        ("sheet_dark", waves(NIGHT)?),
        ("sheet_clear", waves([0; 4])?),
    ] {
        sinew_io::write_png(&folder.join(format!("{name}.png")), &image)?;
    }
    Ok(())
}

fn letters() -> Image {
    let mut image = Image::filled(900, 520, PAPER);
    image.paste(&Image::filled(450, 520, NIGHT), 450, 0);
    for (x, style) in [(20.0, TextStyle::DARK), (470.0, TextStyle::LIGHT)] {
        let mut y = 10.0;
        for size in [10.0, 12.0, 15.0, 18.0, 24.0, 36.0] {
            for font in [Font::Sans, Font::Mono] {
                y += size * 1.4;
                let mut style = style.sized(size);
                style.font = font;
                draw_text(
                    &mut image,
                    &format!("{size} px: difference, mm \u{2212}0.25"),
                    x,
                    y,
                    &style,
                );
            }
        }
        let mut halo = TextStyle::DARK;
        halo.halo = Some([255, 255, 255, 215]);
        draw_text(
            &mut image,
            "a dark letter with a light halo, 17",
            x,
            y + 50.0,
            &halo.sized(18.0),
        );
        let mut halo = TextStyle::LIGHT;
        halo.halo = Some([0, 0, 0, 200]);
        draw_text(
            &mut image,
            "a light letter with a dark halo, 42",
            x,
            y + 90.0,
            &halo.sized(18.0),
        );
    }
    image
}

fn maps() -> Image {
    let mut image = Image::filled(640, 40 * ColorMap::ALL.len(), PAPER);
    for (k, map) in ColorMap::ALL.into_iter().enumerate() {
        for (x, [r, g, b]) in map.table().into_iter().enumerate() {
            image.paste(
                &Image::filled(2, 32, [r, g, b, 255]),
                120 + x * 2,
                40 * k + 4,
            );
        }
        draw_text(
            &mut image,
            map.name(),
            8.0,
            40.0 * k as f32 + 25.0,
            &TextStyle::DARK,
        );
    }
    image
}

fn bars(background: [u8; 4]) -> Image {
    let ranges = [
        (0.0, 1.0, ColorMap::Viridis, "difference, mm"),
        (-0.7, 0.7, ColorMap::RedBlue, "stretch"),
        (0.0, 1e-9, ColorMap::Magma, "error, m"),
        (-3.4e12, 1e12, ColorMap::Turbo, "energy, J"),
        (100.0, 100.01, ColorMap::Cividis, ""),
        (
            -2.0,
            120.0,
            ColorMap::Inferno,
            "temperature of the skin, \u{b0}C",
        ),
        (4.0, 4.0, ColorMap::Greys, "constant"),
    ];
    let style = ScaleBarStyle::on(background);
    let images: Vec<Image> = ranges
        .into_iter()
        .zip([400, 400, 400, 400, 200, 400, 400])
        .map(|((min, max, map, title), height)| {
            let scale = Scale {
                min,
                max,
                map,
                title: title.into(),
            };
            draw_scale_bar(&scale, height, &style)
        })
        .collect();
    let panels: Vec<Panel<'_>> = images.iter().map(|image| Panel::new("", image)).collect();
    sheet(&panels, Some(panels.len()), None, background)
}

/// A hill, coloured by its height, from six sides.
fn waves(background: [u8; 4]) -> Result<Image, Box<dyn Error>> {
    let scale = Scale {
        min: -0.4,
        max: 0.4,
        map: ColorMap::RedBlue,
        title: "height, m".into(),
    };
    let at = |x: u32, z: u32| {
        [
            x as f32 / 20.0 - 1.0,
            0.4 * ((x as f32) * 0.25).sin() * ((z as f32) * 0.2).cos(),
            z as f32 / 20.0 - 1.0,
        ]
    };
    let positions: Vec<[f32; 3]> = (0..41 * 41).map(|i| at(i % 41, i / 41)).collect();
    let corners = (0..40 * 40).map(|i| i / 40 * 41 + i % 40);
    let triangles: Vec<[u32; 3]> = corners
        .flat_map(|c| [[c, c + 41, c + 1], [c + 1, c + 41, c + 42]])
        .collect();
    let colors: Vec<[f32; 4]> = positions
        .iter()
        .map(|p| {
            let [r, g, b] = scale.color(p[1]).map(|c| (f32::from(c) / 255.0).powf(2.2));
            [r, g, b, 1.0]
        })
        .collect();
    let mut images = Vec::new();
    for k in 0..6 {
        let mut picture = Picture::with_background(
            420,
            320,
            if background[3] == 0 {
                Background::Transparent
            } else {
                Background::STUDIO
            },
        );
        let camera = Camera::framing(&positions, k as f32, 0.5, picture.aspect());
        let mut mesh = MeshPicture::new(&positions, &triangles);
        mesh.colors = Some(&colors);
        picture.draw_mesh(&mesh, &camera)?;
        images.push(picture.resolve());
    }
    let labels = [
        "rest",
        "after delta mush",
        "from the left: a label that is much too long to stand above its picture, whatever is done",
        "fourth",
        "gypsy",
        "\u{c4}nderung in mm",
    ];
    let panels: Vec<Panel<'_>> = labels
        .into_iter()
        .zip(&images)
        .map(|(label, image)| Panel::new(label, image))
        .collect();
    let bar = draw_scale_bar(&scale, 420, &ScaleBarStyle::on(background).sized(18.0));
    Ok(sheet(&panels, None, Some(&bar), background))
}
